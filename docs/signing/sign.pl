# perl sign.pl KEYFILE TARGET
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256);
use MIME::Base64 qw(decode_base64 encode_base64url);

# Raw bytes less one final newline, or what stands behind hex: or base64:.
sub read_key {
    my ($path) = @_;
    open my $file, '<:raw', $path or die "$path: $!\n";
    my $text = do { local $/; <$file> };
    $text =~ s/\n\z//;
    return pack 'H*', $1 if $text =~ /\Ahex:((?:[0-9a-fA-F]{2})+)\z/;
    if ($text =~ m{\Abase64:([\w+/-]+)=*\z}a) {
        return decode_base64($1 =~ tr{-_}{+/}r . '=' x (-length($1) % 4));
    }
    die "$path holds no key\n" if $text =~ /\A(?:hex|base64):/;
    return $text;
}

my ($path, $target) = @ARGV;
die "usage: sign.pl KEYFILE TARGET; TARGET is path and query without a signature, such as /img?url=...\n"
    unless ($target // '') =~ m{\A/} && $target !~ /&sig=/;
my $key = read_key($path);
die "$path holds a key of fewer than 16 bytes\n" if length $key < 16;
print "$target&sig=", encode_base64url(hmac_sha256($target, $key)), "\n";
