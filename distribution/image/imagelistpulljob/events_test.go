// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// ILP-6: what is told of ImagePullJobs that are created and deleted, and of one that the API server refuses.
func TestEvents(t *testing.T) {
	server := fakecluster.New(nil, listResource, jobResource)
	d := fixture.Connect(t, server, fixture.TestUser, client.NewForConfig)
	job, err := d.ImageListPullJobs("default").Create(t.Context(), newJob(t, "completionPolicy: {type: Never}"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	unwanted := one(job, "x")
	if unwanted, err = d.ImagePullJobs("default").Create(t.Context(), unwanted, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	refused := jobFor(job, "b").Name
	server.FailBefore(func(r fakecluster.Request) error {
		if r.Verb == "create" && strings.Contains(string(r.Body), refused) {
			return fixture.ErrQuota
		}
		return nil
	})
	lists, jobs := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil), cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{caches.ByOwner.Name: caches.ByOwner.Keys})
	for indexer, object := range map[cache.Indexer]any{lists: job, jobs: unwanted} {
		if err := indexer.Add(object); err != nil {
			t.Fatal(err)
		}
	}
	var events fixture.Recorder
	r, err := NewReconciler(Options{Distribution: d, Recorder: &events, ControllerOptions: podwright.ControllerOptions{Reader: caches.Reader{resourceLists: lists, resourceJobs: jobs}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), types.NamespacedName{Namespace: "default", Name: "warm"}); err == nil {
		t.Error("the refusal is no error: it would not be tried again")
	}
	want := []string{"Normal Successful delete ImagePullJob: Delete 1 ImagePullJob",
		"Warning FailedCreate: create ImagePullJob " + refused + ": " + fixture.ErrQuota.Error(),
		"Normal Successful create ImagePullJob: Create 1 ImagePullJob"}
	if diff := cmp.Diff(want, events.All()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// The next plan tells of it in the status. (ILP-4)
	plan, err := r.Plan(t.Context(), types.NamespacedName{Namespace: "default", Name: "warm"})
	if err != nil || plan.Status == nil || len(plan.Status.FailedImageStatuses) != 1 || plan.Status.FailedImageStatuses[0].Name != "b" {
		t.Errorf("plan %v, %v", plan, err)
	}
}
