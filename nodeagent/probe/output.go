// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// output is what a command has printed, as the status may have it. These are its first bytes, as many as take 1024 in JSON. A
// control character takes up to six there. What is no text is replaced. (PPM-4.7)
func output(printed []byte) string {
	printed = printed[:min(len(printed), v1alpha1.MaxProbeMessage+utf8.UTFMax)] // it may be megabytes
	text := strings.ToValidUTF8(string(printed), string(utf8.RuneError))
	left := v1alpha1.MaxProbeMessage
	for i, r := range text {
		if left -= inJSON(r); left < 0 {
			return text[:i]
		}
	}
	return text
}

// inJSON is how many bytes a character takes in JSON, as API servers write it.
func inJSON(r rune) int {
	if r >= ' ' && r < 0x7f && !strings.ContainsRune("\"\\<>&", r) {
		return 1
	}
	data, err := json.Marshal(string(r))
	if err != nil {
		return 6
	}
	return len(data) - len(`""`)
}
