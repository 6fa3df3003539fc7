// go run sign.go KEYFILE TARGET
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
)

// Raw bytes less one final newline, or what stands behind hex: or base64:.
func readKey(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	if bytes.HasPrefix(text, []byte("hex:")) {
		return hex.DecodeString(string(text[4:]))
	}
	if bytes.HasPrefix(text, []byte("base64:")) {
		plain := strings.TrimRight(string(text[7:]), "=")
		return base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(plain))
	}
	return text, nil
}

func main() {
	if len(os.Args) != 3 || !strings.HasPrefix(os.Args[2], "/") || strings.Contains(os.Args[2], "&sig=") {
		fmt.Fprintln(os.Stderr, "usage: sign.go KEYFILE TARGET; TARGET is path and query without a signature, such as /img?url=...")
		os.Exit(2)
	}
	key, err := readKey(os.Args[1])
	if err == nil && len(key) < 16 {
		err = fmt.Errorf("%s holds a key of fewer than 16 bytes", os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := hmac.New(sha256.New, key)
	code.Write([]byte(os.Args[2]))
	fmt.Println(os.Args[2] + "&sig=" + base64.RawURLEncoding.EncodeToString(code.Sum(nil)))
}
