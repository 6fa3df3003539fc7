<?php // php sign.php KEYFILE TARGET

// Raw bytes less one final newline, or what stands behind hex: or base64:.
function read_key(string $path): string {
    if (!is_readable($path)) throw new RuntimeException("$path can't be read");
    $text = preg_replace('/\n\z/', '', file_get_contents($path));
    if (str_starts_with($text, 'hex:')) {
        $key = hex2bin(substr($text, 4));
    } elseif (str_starts_with($text, 'base64:')) {
        $key = base64_decode(strtr(rtrim(substr($text, 7), '='), '-_', '+/'), true);
    } else {
        $key = $text;
    }
    if ($key === false || strlen($key) < 16) throw new RuntimeException("$path holds no key");
    return $key;
}

if (!str_starts_with($argv[2] ?? '', '/') || str_contains($argv[2], '&sig=')) {
    fwrite(STDERR, "usage: sign.php KEYFILE TARGET; TARGET is path and query without a signature, such as /img?url=...\n");
    exit(2);
}
$code = hash_hmac('sha256', $argv[2], read_key($argv[1]), true);
echo $argv[2], '&sig=', rtrim(strtr(base64_encode($code), '+/', '-_'), '='), "\n";
