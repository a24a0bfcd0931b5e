// SPDX-License-Identifier: Apache-2.0

package images

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden stands in the place of a token that was taken away.
const Hidden = "[hidden]"

// What is never shown: users and passwords, tokens, and what follows the path of a URL,
// with which registries sign the place of a layer.
var (
	queries = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>\\?#]*)[?#][^\s"'<>\\]*`)
	rest    = regexp.MustCompile(`\?[^\s"'<>\\]*=[^\s"'<>\\]*`)
	users   = regexp.MustCompile(`://[^\s/@"'<>\\]*@`)
	tokens  = regexp.MustCompile(`(?i)\b(bearer|basic)(\s+|%20)[A-Za-z0-9+/=._~-]{16,}`)
)

// Redacted takes away what may be secret, and what is not printed.
func Redacted(text string) string {
	text = queries.ReplaceAllString(text, "$1")
	text = rest.ReplaceAllString(text, "")
	text = users.ReplaceAllString(text, "://")
	text = tokens.ReplaceAllString(text, "$1 "+Hidden)
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
}

// Cut takes the middle out of a text that is longer than so many bytes. Runtimes
// say first what they did, and last what went wrong.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const gap = " … "
	head := most / 3
	tail := len(text) - (most - head - len(gap))
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + gap + text[tail:]
}
