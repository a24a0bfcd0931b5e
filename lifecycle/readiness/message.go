// SPDX-License-Identifier: Apache-2.0

package readiness

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// The message of the condition is JSON. Almost always it is the JSON that encode writes,
// of keys that need no escaping. That is read and written here directly; anything else
// goes through encoding/json.
const (
	opening = `{"userAgent":"`
	middle  = `","key":"`
	closing = `"}`
)

// decode reads a message; what is not a list of keys counts as empty.
func decode(message string) []Key {
	if message == "" || message == "[]" {
		return nil
	}
	if keys, ok := decodePlain(message); ok {
		return keys
	}
	var keys []Key
	if err := json.Unmarshal([]byte(message), &keys); err != nil {
		return nil
	}
	return keys
}

// decodePlain reads a message that encode has written of plain keys, and says
// no to any other.
func decodePlain(message string) ([]Key, bool) {
	if len(message) < 2 || message[0] != '[' || message[len(message)-1] != ']' {
		return nil, false
	}
	var keys []Key
	rest := message[1 : len(message)-1]
	for more := true; more; {
		entry, ok := strings.CutPrefix(rest, opening)
		if !ok {
			return nil, false
		}
		userAgent, entry, found := strings.Cut(entry, middle)
		if !found {
			return nil, false
		}
		key, after, found := strings.Cut(entry, closing)
		if !found || !plain(userAgent) || !plain(key) {
			return nil, false
		}
		keys = append(keys, Key{UserAgent: userAgent, Key: key})
		if rest, more = strings.CutPrefix(after, ","); !more && after != "" {
			return nil, false
		}
	}
	return keys, true
}

// encode writes keys sorted and without duplicates. It sorts them in place.
func encode(keys []Key) string {
	slices.SortFunc(keys, func(a, b Key) int {
		return cmp.Or(cmp.Compare(a.UserAgent, b.UserAgent), cmp.Compare(a.Key, b.Key))
	})
	keys = slices.Compact(keys)
	message := []byte{'['}
	for i, k := range keys {
		if !plain(k.UserAgent) || !plain(k.Key) {
			data, _ := json.Marshal(keys) // strings always encode
			return string(data)
		}
		if i > 0 {
			message = append(message, ',')
		}
		message = append(message, opening...)
		message = append(message, k.UserAgent...)
		message = append(message, middle...)
		message = append(message, k.Key...)
		message = append(message, closing...)
	}
	return string(append(message, ']'))
}

// mayList rules out most messages that do not list key, without decoding them.
func mayList(message string, key Key) bool {
	return !plain(key.Key) || strings.Contains(message, key.Key) || strings.Contains(message, `\`)
}

// plain tells whether a string stands in JSON unchanged.
func plain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}
