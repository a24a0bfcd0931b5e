// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// What does not matter costs no reconcile and no request.
func TestQuiet(t *testing.T) {
	play(t, func(s *story) {
		s.pod("web-0")
		defer s.manager()()
		s.create("restart", "web-0", "unready=3600")
		s.work(2 * time.Second)
		s.ForgetRequests()
		reconciles := s.reconciles.Count()
		s.Heartbeats()
		s.PatchPod("web-0", `{"metadata":{"labels":{"a":"b"},"annotations":{"a":"b"}}}`)
		_, err := s.requests.Patch(s.T.Context(), "restart", types.MergePatchType,
			[]byte(`{"status":{"containerRecreateStates":[{"name":"main","phase":"Pending"}]}}`), metav1.PatchOptions{}, "status")
		s.Must(err)
		s.patchRequest("restart", `{"metadata":{"labels":{"a":"b"},"annotations":{"a":"b"}}}`)
		s.Sleep("10s")
		if sent := s.Sent(); len(sent) > 0 {
			s.T.Errorf("requests %v", sent)
		}
		if n := s.reconciles.Count() - reconciles; n != 0 {
			s.T.Errorf("%d reconciles for what does not matter", n)
		}
	})
}
