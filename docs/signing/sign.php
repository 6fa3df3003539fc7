<?php // php sign.php KEYFILE TARGET
$key = preg_replace('/\n\z/', '', file_get_contents($argv[1]));
$code = hash_hmac('sha256', $argv[2], $key, true);
echo $argv[2], '&sig=', rtrim(strtr(base64_encode($code), '+/', '-_'), '='), "\n";
