// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/predownload"
)

func terminating() error {
	err := apierrors.NewForbidden(corev1.Resource("pods"), "web-0", fmt.Errorf("because it is being terminated"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return err
}

// In a namespace that is being deleted the API server refuses one creation, whatever is created. The controller then sends none
// until the workload changes, and records no event.
func TestNamespaceThatIsBeingDeleted(t *testing.T) {
	creation := []rollout.PodCreation{
		{Pod: pod("web-0"), Claims: []*corev1.PersistentVolumeClaim{claim("data-web-0")}}, {Pod: pod("web-1")}, {Pod: pod("web-2")}}
	for _, test := range []struct {
		refused string
		create  func(*fixture) error
	}{
		{"create pods", func(s *fixture) error { return s.createPods(creation[1:]...) }},
		{"create persistentvolumeclaims", func(s *fixture) error { return s.createPods(creation[:1]...) }},
		{"create controllerrevisions", func(s *fixture) error {
			_, err := s.PrepareRevisions(t.Context(), &revision.Changes{Create: history("web-2", "nginx:2")}, nil, sameTemplate)
			return err
		}},
	} {
		t.Run(test.refused, func(t *testing.T) {
			s := newFixture(t)
			s.fail(test.refused, terminating())
			reconcile := func() {
				t.Helper()
				if err := test.create(s); WorthRetrying(err) != nil || err == nil {
					t.Errorf("error %v, want one that is not worth retrying", err)
				}
				s.Sync = s.Begin(s.set)
			}
			requests := func() int { t.Helper(); return len(s.requests()) }
			reconcile()
			if reconcile(); requests() != 1 {
				t.Errorf("requests %q, want one", s.requests())
			}
			s.set.Generation++
			s.Sync = s.Begin(s.set)
			if reconcile(); requests() != 2 {
				t.Errorf("after a change of the workload: requests %q, want another one", s.requests())
			}
			s.Writer.Forget(s.Key)
			if reconcile(); requests() != 3 {
				t.Errorf("of another workload of the name: requests %q, want another one", s.requests())
			}
			if len(s.events.events) > 0 {
				t.Errorf("events %q", s.events.events)
			}
		})
	}
}

// refusedJobs refuses to create jobs.
type refusedJobs struct {
	predownload.Jobs
	asked int
}

func (j *refusedJobs) Create(context.Context, *distributionv1alpha1.ImagePullJob) error {
	j.asked++
	return terminating()
}

func TestPullJobsInANamespaceThatIsBeingDeleted(t *testing.T) {
	s := newFixture(t)
	jobs := &refusedJobs{}
	decision := rollout.PreDownload{Create: []*distributionv1alpha1.ImagePullJob{{}, {}}, Label: "tried"}
	for range 3 {
		if err := WorthRetrying(s.preDownload(t.Context(), jobs, history("web-2", "nginx:2"), decision)); err != nil {
			t.Error(err)
		}
	}
	if jobs.asked != 1 || len(s.events.events) > 0 {
		t.Errorf("%d creations, want 1; events %q", jobs.asked, s.events.events)
	}
	if diff := cmp.Diff([]string(nil), s.requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
