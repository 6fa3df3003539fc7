// go run sign.go KEYFILE TARGET
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
)

func main() {
	key, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	code := hmac.New(sha256.New, bytes.TrimSuffix(key, []byte("\n")))
	code.Write([]byte(os.Args[2]))
	fmt.Println(os.Args[2] + "&sig=" + base64.RawURLEncoding.EncodeToString(code.Sum(nil)))
}
