// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// Every write names the UID of its request: another one may have taken the name. (CRR-5.3)
func TestStoryWritesNameTheUID(t *testing.T) {
	for name, edits := range map[string][]edit{"as it comes": nil, "unready": {unready(5)}, "late": {minStarted(5)}} {
		play(t, func(n *node) {
			n.pod("web-0")
			n.start()
			n.create("one", "web-0", edits...)
			uids, patches := map[types.UID]bool{}, 0
			n.Server.FailBefore(func(r fakecluster.Request) error {
				if r.Verb != "patch" || r.Resource != "containerrecreaterequests" || r.User != agentUser {
					return nil
				}
				var patch metav1.PartialObjectMetadata
				if err := json.Unmarshal(r.Body, &patch); err != nil {
					n.Error(err)
				}
				uids[patch.UID], patches = true, patches+1
				return nil
			})
			n.work(time.Minute)
			request, err := n.requests.Get(n.Context(), "one", metav1.GetOptions{})
			n.Must(err)
			if patches == 0 || len(uids) != 1 || !uids[request.UID] {
				n.Errorf("%s: %d patches name the UIDs %v, want %s", name, patches, uids, request.UID)
			}
		})
	}
}
