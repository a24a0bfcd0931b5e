// SPDX-License-Identifier: Apache-2.0

package readiness

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// FuzzDecode holds the short way of reading a message against encoding/json,
// and writing against reading.
func FuzzDecode(f *testing.F) {
	for _, message := range []string{
		"", "[]", "null", "[", "]", "[]]", "{}", `[{}]`, `[null]`, `[5]`,
		`[{"userAgent":"a","key":"b"}]`,
		`[{"userAgent":"a","key":"b"},{"userAgent":"c","key":"d"}]`,
		`[{"userAgent":"a","key":"b"},]`,
		`[{"userAgent":"a","key":"b"}{"userAgent":"c","key":"d"}]`,
		`[{"userAgent":"a","key":"b"} ]`,
		`[ {"key":"b","userAgent":"a"}]`,
		`[{"userAgent":"a\u003c","key":"\"}"}]`,
		`[{"userAgent":"a","key":"","key":"b"}]`,
		`[{"userAgent":"a","extra":1,"key":"b"}]`,
		"[{\"userAgent\":\"\xff\",\"key\":\"\x00\"}]",
	} {
		f.Add(message)
	}
	f.Fuzz(func(t *testing.T, message string) {
		var want []Key
		if json.Unmarshal([]byte(message), &want) != nil || len(want) == 0 {
			want = nil
		}
		got := decode(message)
		if len(got) == 0 {
			got = nil
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("decode %q (-want +got):\n%s", message, diff)
		}
		for _, key := range got {
			if !mayList(message, key) {
				t.Errorf("%q lists %+v, mayList denies it", message, key)
			}
		}
		slices.SortFunc(got, func(a, b Key) int {
			return cmp.Or(strings.Compare(a.UserAgent, b.UserAgent), strings.Compare(a.Key, b.Key))
		})
		got = slices.Compact(got)
		written := encode(got)
		if diff := gocmp.Diff(got, decode(written)); diff != "" {
			t.Errorf("encoded as %q (-before +after):\n%s", written, diff)
		}
		data, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) > 0 && written != string(data) {
			t.Errorf("want the encoding %s, got %s", data, written)
		}
	})
}
