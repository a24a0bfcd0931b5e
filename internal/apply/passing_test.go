// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// passing says in one expression what Wanted leaves out.
var passing = regexp.MustCompile(`(\\?"resourceVersion\\?":\\?")[^"\\]*|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`)

// CT-12: versions and times of a patch are left out, and nothing else.
func TestWantedLeavesOutWhatPasses(t *testing.T) {
	parts := rapid.SampledFrom([]string{
		`"resourceVersion":"12"`, `\"resourceVersion\":\"12\"`, `"resourceVersion":null`, `"resourceVersions":"12"`, `"resourceVersion":"`, `"resourceVersion`,
		"2026-11-30T10:15:04Z", "2026-11-30T10:15:04.123456Z", "2026-11-30T10:15:04+01:00", "2026-11-30T10:15:04.5-01:00", "2026-11-30T10:15:04", "2026-11-30",
		"2026-11-30T10:15:04.Z", "2026-11-30T10:15:04+01", `{"a":"b"}`, `\\"`, "1", "T", "Z", "-", ":", ".", `"`, "äöü", "image:1.2.3",
	})
	rapid.Check(t, func(t *rapid.T) {
		var patch string
		for _, part := range rapid.SliceOfN(parts, 0, 8).Draw(t, "parts") {
			patch += part[rapid.IntRange(0, min(1, len(part)-1)).Draw(t, "from"):]
		}
		if got, want := Wanted([]byte(patch)), string(passing.ReplaceAll([]byte(patch), []byte("$1"))); got != want {
			t.Fatalf("%s\nfound %s\nwant  %s", patch, got, want)
		}
	})
}

func BenchmarkWanted(b *testing.B) {
	patch := []byte(`{"metadata":{"annotations":{"apps.kruise.io/inplace-update-state":"{\"revision\":\"web-5d8f\",\"updateTimestamp\":\"2026-11-30T10:15:04Z\",\"lastContainerStatuses\":{\"main\":{\"imageID\":\"sha256:1\"}}}"},"labels":{"apps.kruise.io/state":"Updating","controller-revision-hash":"web-5d8f"},"resourceVersion":"4711","uid":"1"},"spec":{"containers":[{"image":"nginx:2","name":"main"}]}}`)
	w := &Writer{}
	b.ReportAllocs()
	for b.Loop() {
		w.wantedOfPod(patch)
	}
}
