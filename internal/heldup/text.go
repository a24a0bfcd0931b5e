// SPDX-License-Identifier: Apache-2.0

package heldup

import (
	"fmt"
	"strings"
	"time"
)

const textBegins = "held up since "

// Text is what the condition would say, in words: "held up since TIME: REASON: WHAT". It is for kinds whose status has a message and
// no conditions. Empty for nil.
func Text(told *Told) string {
	if told == nil {
		return ""
	}
	return fmt.Sprintf("%s%s: %s: %s", textBegins, told.Since.UTC().Format(time.RFC3339), told.Reason, told.Message)
}

// OfText reads what Text has written; nil for any other text.
func OfText(text string) *Told {
	rest, is := strings.CutPrefix(text, textBegins)
	parts := strings.SplitN(rest, ": ", 3)
	if !is || len(parts) < 3 {
		return nil
	}
	since, err := time.Parse(time.RFC3339, parts[0])
	if err != nil {
		return nil
	}
	return &Told{Reason: parts[1], Message: parts[2], Since: since}
}

// Retell returns the text to write in the place of a standing one that Text has written or that is empty. That is the standing one if the other says
// no more, see same.
func Retell(standing string, told *Told) string {
	if was := OfText(standing); was != nil && told != nil && same(was, told) {
		return standing
	}
	return Text(told)
}
