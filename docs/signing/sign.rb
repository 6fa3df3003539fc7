# ruby sign.rb KEYFILE TARGET
require "openssl"

key = File.binread(ARGV[0]).delete_suffix("\n")
code = OpenSSL::HMAC.digest("SHA256", key, ARGV[1])
puts "#{ARGV[1]}&sig=#{[code].pack('m0').tr('+/', '-_').delete('=')}"
