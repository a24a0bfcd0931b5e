// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"os"
	"strings"
	"testing"
	"time"
)

// Replay sends what a program of others has sent, as it was written down in a file. A line is a verb and JSON, in which NOW stands for the time. Lines that
// begin with # say why, and time passes after the line "after 3s".
func Replay(t testing.TB, file string, pass func(time.Duration), send func(verb, text string)) {
	t.Helper()
	all, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(all)) {
		verb, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case "", "#":
		case "after":
			pass(Duration(t, text))
		default:
			send(verb, strings.ReplaceAll(text, "NOW", time.Now().UTC().Format(time.RFC3339)))
		}
	}
}
