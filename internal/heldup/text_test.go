// SPDX-License-Identifier: Apache-2.0

package heldup_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/internal/heldup"
)

func TestText(t *testing.T) {
	told := &heldup.Told{Reason: "CrashLoop", Message: "pod web-1: container main: Error: x", Since: start}
	const want = "held up since 2026-01-01T12:00:00Z: CrashLoop: pod web-1: container main: Error: x"
	if got := heldup.Text(told); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if diff := cmp.Diff(told, heldup.OfText(want)); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	for _, other := range []string{"", "the pod has gone", "held up since yesterday: A: b", "held up since 2026-01-01T12:00:00Z: A"} {
		if told := heldup.OfText(other); told != nil {
			t.Errorf("%q says %+v", other, told)
		}
	}
	if got := heldup.Retell(want, &heldup.Told{Reason: "Image", Message: "pod web-1: y", Since: start}); got != want {
		t.Errorf("other words: %s", got)
	}
	for _, next := range []*heldup.Told{nil, {Reason: "CrashLoop", Message: "pod web-2: x", Since: start}} {
		if got := heldup.Retell(want, next); got != heldup.Text(next) {
			t.Errorf("%+v: %s", next, got)
		}
	}
}
