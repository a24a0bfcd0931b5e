// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// newNativeWorld is a world whose native sidecars count as containers.
func newNativeWorld(t testing.TB, spec string) *world {
	t.Helper()
	w := newWorld(t, "{}")
	w.features = natives
	w.edit(spec)
	return w
}

// Records tell whose a native sidecar is. (SCS-28, SCS-40)
func TestForeignNative(t *testing.T) {
	w := newNativeWorld(t, `{initContainers: [{name: proxy, image: "proxy:v1", restartPolicy: Always}]}`)
	other := w.set.DeepCopy()
	other.Name = "another"
	w.addAs(w.bare("a"), other, w.set)
	records, err := injection.Records(w.pods[0], v1alpha1.SidecarSetHashAnnotation)
	if err != nil {
		t.Fatal(err)
	}
	if _, is := records["demo"]; is {
		t.Fatalf("records %v", records)
	}
	records["demo"] = w.features.NewRecord(w.set, records["another"].SidecarSetHash, w.now)
	annotatePod(w.pods[0], v1alpha1.SidecarSetHashAnnotation, records)
	if plan := w.plan(); waits(plan, "a") != "Incomplete" || !strings.Contains(plan.NotInjected[0].Reason.Message, "proxy is that of SidecarSet another") {
		t.Errorf("%s", plan)
	}
}
