// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/predownload"
)

// refusedJobs refuses to create jobs.
type refusedJobs struct {
	predownload.Jobs
	asked int
}

func (j *refusedJobs) Create(context.Context, *distributionv1alpha1.ImagePullJob) error {
	j.asked++
	return failure("ending")
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
	if jobs.asked != 1 || len(s.events.All()) > 0 {
		t.Errorf("%d creations, want 1; events %q", jobs.asked, s.events.All())
	}
	if diff := cmp.Diff([]string(nil), s.requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
