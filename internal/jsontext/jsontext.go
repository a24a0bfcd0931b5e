// SPDX-License-Identifier: Apache-2.0

// Package jsontext appends JSON byte for byte as encoding/json writes it, and faster. It is for what plans write into many pods.
package jsontext

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Plain tells whether strings stand in JSON unchanged.
func Plain(all ...string) bool {
	for _, s := range all {
		for i := range len(s) {
			switch c := s[i]; {
			case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
				return false
			}
		}
	}
	return true
}

// AppendString appends a plain string in quotes.
func AppendString(data []byte, s string) []byte {
	return append(append(append(data, '"'), s...), '"')
}

// AppendField appends a field with a plain value behind a comma or nothing, unless the value is empty.
func AppendField(data []byte, comma, key, value string) []byte {
	if value == "" {
		return data
	}
	data = append(AppendString(append(data, comma...), key), ':')
	return AppendString(data, value)
}

// AppendTime appends a time as metav1.Time writes it.
func AppendTime(data []byte, t metav1.Time) []byte {
	if t.IsZero() {
		return append(data, "null"...)
	}
	return append(t.UTC().AppendFormat(append(data, '"'), time.RFC3339), '"')
}
