<?php // php sign.php KEYFILE TARGET

// Raw bytes less one final newline, or what stands behind hex: or base64:.
function read_key(string $path): string {
    $text = preg_replace('/\n\z/', '', file_get_contents($path));
    if (str_starts_with($text, 'hex:')) {
        $key = hex2bin(substr($text, 4));
    } elseif (str_starts_with($text, 'base64:')) {
        $key = base64_decode(strtr(rtrim(substr($text, 7), '='), '-_', '+/'), true);
    } else {
        $key = $text;
    }
    if ($key === false) throw new RuntimeException("$path holds no key");
    return $key;
}

if (!str_starts_with($argv[2] ?? '', '/')) throw new RuntimeException('TARGET is path and query, such as /img?url=...');
$code = hash_hmac('sha256', $argv[2], read_key($argv[1]), true);
echo $argv[2], '&sig=', rtrim(strtr(base64_encode($code), '+/', '-_'), '='), "\n";
