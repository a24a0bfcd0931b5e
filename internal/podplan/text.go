// SPDX-License-Identifier: Apache-2.0

package podplan

import "regexp"

// These parts of the text of one failure differ from one try to the next. Times, and the ids of requests and traces, are ids.
// Addresses, ports, counts and durations are numbers. Digits within names, such as web-2 and node7, do not count.
var (
	ids = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\s"',;)]*` +
		`|\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b|\b[0-9a-fA-F]{16,}\b`)
	numbers = regexp.MustCompile(`(^|[^A-Za-z0-9_-])\d+(?:\.\d+)?(?:(?:ns|µs|ms|s|m|h)\b)?`)
)

// sameFailure tells whether two texts say the same failure, if perhaps of another try: they differ in times, ids, addresses
// and numbers alone. Such a text is not worth a write of a status. (CT-2)
func sameFailure(a, b string) bool { return a == b || lasting(a) == lasting(b) }

// lasting is a text without what differs from one try to the next.
func lasting(text string) string {
	return numbers.ReplaceAllString(ids.ReplaceAllString(text, "#"), "${1}#")
}
