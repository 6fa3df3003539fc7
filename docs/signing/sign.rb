# ruby sign.rb KEYFILE TARGET
require "openssl"

# Raw bytes less one final newline, or what stands behind hex: or base64:.
def read_key(path)
  text = File.binread(path).delete_suffix("\n")
  case text
  when /\Ahex:((?:\h{2})+)\z/n then [$1].pack("H*")
  when %r{\Abase64:([\w+/-]+)=*\z}n
    plain = $1.tr("-_", "+/")
    (plain + "=" * (-plain.size % 4)).unpack1("m0")
  when /\A(?:hex|base64):/n then abort "#{path} holds no key"
  else text
  end
end

path, target = ARGV
unless target&.start_with?("/") && !target.include?("&sig=")
  abort "usage: sign.rb KEYFILE TARGET; TARGET is path and query without a signature, such as /img?url=..."
end
key = read_key(path)
abort "#{path} holds a key of fewer than 16 bytes" if key.bytesize < 16
code = OpenSSL::HMAC.digest("SHA256", key, target)
puts "#{target}&sig=#{[code].pack('m0').tr('+/', '-_').delete('=')}"
