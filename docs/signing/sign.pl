# perl sign.pl KEYFILE TARGET
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256);
use MIME::Base64 qw(encode_base64url);

open my $file, '<:raw', $ARGV[0] or die $!;
my $key = do { local $/; <$file> };
$key =~ s/\n\z//;
print "$ARGV[1]&sig=", encode_base64url(hmac_sha256($ARGV[1], $key)), "\n";
