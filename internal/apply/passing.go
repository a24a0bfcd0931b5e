// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"bytes"
	"strings"
)

// What differs between two patches that want the same are versions and times.
const (
	versionKey = `"resourceVersion`
	timeLayout = "0000-00-00T00:00:00" // a zero stands for any digit
	zoneLayout = "00:00"
)

// Wanted is what a patch wants: all but the version on which it is made, and times, which are empty. It reads each patch of a pod,
// and so it does not decode it.
func Wanted(patch []byte) string {
	var wanted strings.Builder
	wanted.Grow(len(patch))
	for i := 0; i < len(patch); {
		rest := patch[i:]
		switch c := rest[0]; {
		case c == '"' && version(rest) > 0:
			key := version(rest)
			wanted.Write(rest[:key])
			i += key
			for i < len(patch) && patch[i] != '"' && patch[i] != '\\' {
				i++
			}
		case '0' <= c && c <= '9' && timestamp(rest) > 0:
			i += timestamp(rest)
		default:
			wanted.WriteByte(c)
			i++
		}
	}
	return wanted.String()
}

// version is how long the key of a version at the beginning of a text is, up to its value. The key may stand in JSON within a string.
// It is 0 if there is none.
func version(text []byte) int {
	rest, found := bytes.CutPrefix(text, []byte(versionKey))
	if !found {
		return 0
	}
	for _, quotes := range []string{`":"`, `\":\"`, `\":"`, `":\"`} {
		if bytes.HasPrefix(rest, []byte(quotes)) {
			return len(versionKey) + len(quotes)
		}
	}
	return 0
}

// timestamp is how long the time of RFC 3339 at the beginning of a text is; 0 if there is none.
func timestamp(text []byte) int {
	if !looksLike(text, timeLayout) {
		return 0
	}
	n := len(timeLayout)
	if n+1 < len(text) && text[n] == '.' && isDigit(text[n+1]) {
		for n++; n < len(text) && isDigit(text[n]); {
			n++
		}
	}
	switch {
	case n == len(text):
		return 0
	case text[n] == 'Z':
		return n + 1
	case (text[n] == '+' || text[n] == '-') && looksLike(text[n+1:], zoneLayout):
		return n + 1 + len(zoneLayout)
	}
	return 0
}

// looksLike tells whether a text begins as a layout does.
func looksLike(text []byte, layout string) bool {
	if len(text) < len(layout) {
		return false
	}
	for i := range len(layout) {
		if layout[i] == '0' && !isDigit(text[i]) || layout[i] != '0' && layout[i] != text[i] {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// blank empties the annotations of a patch whose keys begin so. Those that go stay as they are. The patch is compact JSON, as
// controllers encode it.
func blank(patch []byte, key string) []byte {
	for from := 0; ; {
		at := bytes.Index(patch[from:], []byte(`"`+key))
		if at < 0 {
			return patch
		}
		from += at + 1
		end := bytes.IndexByte(patch[from:], '"')
		if end < 0 || !bytes.HasPrefix(patch[from+end:], []byte(`":"`)) {
			continue
		}
		value := from + end + len(`":"`)
		for from = value; from < len(patch) && patch[from] != '"'; from++ {
			if patch[from] == '\\' {
				from++
			}
		}
		patch = append(patch[:value:value], patch[min(from, len(patch)):]...)
		from = value
	}
}
