// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/workloads"
	workloadsfake "github.com/podwright/podwright/workloads/client/fake"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// rollingOut is a world of 5 pods at nginx:1 whose template says nginx:2.
func rollingOut(t *testing.T) *setScenario {
	w := newScenario(t)
	w.features.PreDownload = true
	w.Spec("replicas=5", "type=InPlaceIfPossible")
	w.settle()
	w.Spec("image=nginx:2")
	return w
}

// jobsOf is an ImagePullJobs that controls the named jobs and fails with err.
type jobsOf struct {
	workloads.ImagePullJobs
	names []string
	err   error
	made  []string
}

func (j *jobsOf) Owned(namespace string, owner types.UID) ([]string, error) {
	if namespace != "default" || owner != "uid-web" {
		return nil, errors.New("asked for another owner")
	}
	return j.names, j.err
}

func (j *jobsOf) Create(_ context.Context, job *distributionv1alpha1.ImagePullJob) error {
	j.made = append(j.made, job.Name)
	return j.err
}

func TestObserveJobs(t *testing.T) {
	two := &jobsOf{names: []string{"a", "b"}}
	for _, test := range []struct {
		name     string
		jobs     workloads.ImagePullJobs
		features Features
		want     []string
		fails    bool
	}{
		{"IP-32: the jobs of the CloneSet", two, Features{PreDownload: true}, []string{"a", "b"}, false},
		{"the feature is off", two, Features{}, nil, false},
		{"there are no ImagePullJobs", nil, Features{PreDownload: true}, nil, false},
		{"the cache fails", &jobsOf{err: errors.New("no")}, Features{PreDownload: true}, nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScenario(t).snapshot()
			s.Features = test.features
			err := (&reconciler{options: Options{Jobs: test.jobs}}).observeJobs(s)
			if diff := cmp.Diff(test.want, s.Jobs); (err != nil) != test.fails || diff != "" {
				t.Errorf("error %v, jobs (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestApplyPreDownload(t *testing.T) {
	w := rollingOut(t)
	plan := NewPlan(w.snapshot())
	existing := plan.Revisions.Update.DeepCopy()
	kube, err := kubernetes.NewForConfig(fakecluster.New(nil).Config("test"))
	if err != nil {
		t.Fatal(err)
	}
	revisions := kube.AppsV1().ControllerRevisions("default")
	if _, err := revisions.Create(t.Context(), existing, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	recorder := record.NewFakeRecorder(10)
	jobs := &jobsOf{}
	key := types.NamespacedName{Namespace: "default", Name: "web"}
	r := &reconciler{options: Options{Jobs: jobs}, writer: newWriter(&Options{Kubernetes: kube, Workloads: workloadsfake.NewClient(), Recorder: recorder})}

	if err := r.begin(w.snapshot(), plan).PullAhead(context.Background(), r.options.Jobs); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{plan.Revisions.Update.Name + "-main"}, jobs.made); diff != "" {
		t.Errorf("IP-30: jobs (-want +got):\n%s", diff)
	}
	labelled, err := revisions.Get(t.Context(), existing.Name, metav1.GetOptions{})
	if err != nil || labelled.Labels[inplacev1alpha1.PreDownloadCreatedLabel] != "true" {
		t.Errorf("IP-30: error %v, labels of the revision %v", err, labelled.Labels)
	}
	if got := <-recorder.Events; !strings.HasPrefix(got, "Normal CreatedImagePullJob ") {
		t.Errorf("event %q", got)
	}
	stale := func(Resource) string { return "1" }
	if missing, err := r.writer.Own.Pending(key, stale, time.Now()); err != nil || missing.Resource != ResourceRevisions {
		t.Errorf("the next reconcile waits for %v, error %v, want the labelled revision", missing, err)
	}
}

func TestApplyWithoutImagePullJobs(t *testing.T) {
	plan := &Plan{Plan: rollout.Plan{Revisions: revision.Changes{Update: &appsv1.ControllerRevision{}}, PreDownload: rollout.PreDownload{Label: "x"}}}
	if err := (&apply.Applier[v1alpha1.CloneSetStatus]{Plan: &plan.Plan}).PullAhead(context.Background(), nil); err != nil {
		t.Error(err)
	}
}
