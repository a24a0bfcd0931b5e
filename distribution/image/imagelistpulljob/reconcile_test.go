// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// ILP-3: an ImagePullJob that another ImageListPullJob controls, or none, stays as its author made it. It stays so even if it has the name of
// one that is to be created, or an image that is no longer listed. The others are created and deleted. ILP-6: events tell of them, and of one
// that the API server refuses.
func TestReconcile(t *testing.T) {
	server := fakecluster.New(nil, listResource, jobResource)
	d := fixture.Connect(t, server, fixture.TestUser, client.NewForConfig)
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	job, err := d.ImageListPullJobs("default").Create(t.Context(), newJob(t, "images: [a, d, b]\ncompletionPolicy: {type: Never}"), metav1.CreateOptions{})
	must(err)
	cached := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
	jobs := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{caches.ByOwner.Name: caches.ByOwner.Keys})
	must(cached.Add(job))
	taken, ofAnother := one(job, "a"), one(job, "c")
	taken.OwnerReferences, taken.Spec.PullSecrets = nil, []string{"theirs"}
	ofAnother.OwnerReferences[0].UID = "another"
	before := map[string]string{}
	for _, there := range []*v1alpha1.ImagePullJob{taken, ofAnother, one(job, "x")} {
		there, err := d.ImagePullJobs("default").Create(t.Context(), there, metav1.CreateOptions{})
		must(err)
		must(jobs.Add(there))
		before[there.Name] = there.ResourceVersion
	}
	refused := jobFor(job, "b").Name
	server.FailBefore(func(r fakecluster.Request) error {
		if r.Verb == "create" && strings.Contains(string(r.Body), refused) {
			return fixture.ErrQuota
		}
		return nil
	})
	var events fixture.Recorder
	r, err := NewReconciler(Options{Distribution: d, Recorder: &events, ControllerOptions: podwright.ControllerOptions{Reader: caches.Reader{resourceLists: cached, resourceJobs: jobs}}})
	must(err)
	key := types.NamespacedName{Namespace: "default", Name: "warm"}
	if _, err := r.Reconcile(t.Context(), key); err == nil {
		t.Error("that one is refused is no error: it would not be tried again")
	}
	want := []string{"Normal Successful delete ImagePullJob: Delete 1 ImagePullJob",
		"Warning FailedCreate: create ImagePullJob " + taken.Name + ": the name is taken by another one, which this ImageListPullJob does not control: delete that one",
		"Warning FailedCreate: create ImagePullJob " + refused + ": " + fixture.ErrQuota.Error(),
		"Normal Successful create ImagePullJob: Create 1 ImagePullJob"}
	if diff := cmp.Diff(want, events.All()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	after, err := d.ImagePullJobs("default").List(t.Context(), metav1.ListOptions{})
	must(err)
	var found []string
	for _, job := range after.Items {
		word := job.Spec.Image
		if version, there := before[job.Name]; there && version == job.ResourceVersion {
			word += " as before"
		}
		found = append(found, word)
	}
	slices.Sort(found)
	if diff := cmp.Diff([]string{"a as before", "c as before", "d"}, found); diff != "" {
		t.Errorf("ImagePullJobs (-want +got):\n%s", diff)
	}
	// The next plan tells of those that are refused in the status. (ILP-4)
	plan, err := r.Plan(t.Context(), key)
	if err != nil || plan.Status == nil || len(plan.Status.FailedImageStatuses) != 2 || plan.Status.FailedImageStatuses[1].Name != "b" {
		t.Errorf("plan %v, %v", plan, err)
	}
}
