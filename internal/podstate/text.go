// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Records of updates stand in annotations of pods, as JSON. Most are simple, and there are many: they are appended, byte for byte
// as encoding/json writes them, and faster.

// IsPlain tells whether texts stand in JSON unchanged.
func IsPlain(texts ...string) bool {
	for _, s := range texts {
		for i := range len(s) {
			switch c := s[i]; {
			case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
				return false
			}
		}
	}
	return true
}

// AppendText appends a plain text as JSON.
func AppendText(data []byte, s string) []byte {
	return append(append(append(data, '"'), s...), '"')
}

// AppendTime appends a time as metav1.Time writes it.
func AppendTime(data []byte, t metav1.Time) []byte {
	if t.IsZero() {
		return append(data, "null"...)
	}
	return append(t.UTC().AppendFormat(append(data, '"'), time.RFC3339), '"')
}
