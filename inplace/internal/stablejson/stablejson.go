// SPDX-License-Identifier: Apache-2.0

// Package stablejson encodes JSON to bytes that are the same whatever release
// of Go built the program. Hashes over such bytes are stored in clusters and
// compared with those of other programs for years, so they must never change.
package stablejson

import (
	"bytes"
	"encoding/json"
)

// Marshal encodes v compactly, with map keys sorted and with <, > and &
// escaped, as encoding/json does. Backspace and form feed are written as
// \u0008 and \u000c, which encoding/json did before Go 1.22. It fails when
// encoding/json does.
func Marshal(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return longEscapes(data), nil
}

// longEscapes replaces the escapes \b and \f of a JSON text by their long
// forms. It returns the text itself if there is none, which is the rule.
func longEscapes(data []byte) []byte {
	if !bytes.Contains(data, []byte(`\b`)) && !bytes.Contains(data, []byte(`\f`)) {
		return data
	}
	out := make([]byte, 0, len(data)+16)
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' || i+1 == len(data) {
			out = append(out, data[i])
			continue
		}
		i++ // An escape is two characters at least: a second backslash starts none.
		switch data[i] {
		case 'b':
			out = append(out, `\u0008`...)
		case 'f':
			out = append(out, `\u000c`...)
		default:
			out = append(out, '\\', data[i])
		}
	}
	return out
}
