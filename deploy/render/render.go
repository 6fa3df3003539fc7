// SPDX-License-Identifier: Apache-2.0

// Renders the templates of deploy/helm with the functions of Helm that they use: `go run render.go TEMPLATES < VALUES.json`.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

func encoded(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		log.Fatal(err)
	}
	return string(data)
}

func main() {
	var data map[string]any
	if err := json.NewDecoder(os.Stdin).Decode(&data); err != nil {
		log.Fatal(err)
	}
	all := template.New("").Option("missingkey=error")
	all.Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var out strings.Builder
			err := all.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"nindent": func(count int, text string) string {
			pad := "\n" + strings.Repeat(" ", count)
			return pad + strings.ReplaceAll(strings.Trim(text, "\n"), "\n", pad)
		},
		// JSON is YAML.
		"toYaml": encoded, "toJson": encoded, "quote": encoded,
		"sha256sum": func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) },
		"default": func(other, value any) any {
			if value == nil || value == "" {
				return other
			}
			return value
		},
		"required": func(why string, value any) (any, error) {
			if value == nil || value == "" {
				return nil, fmt.Errorf("%s", why)
			}
			return value, nil
		},
	})
	template.Must(all.ParseGlob(filepath.Join(os.Args[1], "*")))
	for _, found := range all.Templates() {
		if strings.HasSuffix(found.Name(), ".yaml") {
			fmt.Println("---")
			if err := found.Execute(os.Stdout, data); err != nil {
				log.Fatal(err)
			}
		}
	}
}
