// SPDX-License-Identifier: Apache-2.0

package apply

import "testing"

func BenchmarkWanted(b *testing.B) {
	patch := []byte(`{"metadata":{"annotations":{"apps.kruise.io/inplace-update-state":"{\"revision\":\"web-5d8f\",\"updateTimestamp\":\"2026-11-30T10:15:04Z\",\"lastContainerStatuses\":{\"main\":{\"imageID\":\"sha256:1\"}}}"},"labels":{"apps.kruise.io/state":"Updating","controller-revision-hash":"web-5d8f"},"resourceVersion":"4711","uid":"1"},"spec":{"containers":[{"image":"nginx:2","name":"main"}]}}`)
	w := &Writer{}
	b.ReportAllocs()
	for b.Loop() {
		w.wantedOfPod(patch)
	}
}
