// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
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

// TestJobsOfOthers: ILP-3. An ImagePullJob that another ImageListPullJob controls, or none, stays as its author made it. It stays so even
// if it has the name of one that is to be created, or an image that is no longer listed. The others are created.
func TestJobsOfOthers(t *testing.T) {
	server := fakecluster.New(nil, listResource, jobResource)
	d := fixture.Connect(t, server, fixture.TestUser, client.NewForConfig)
	job, err := d.ImageListPullJobs("default").Create(t.Context(), newJob(t, "completionPolicy: {type: Never}"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	list, jobs := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil), cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{caches.ByOwner.Name: caches.ByOwner.Keys})
	if err := list.Add(job); err != nil {
		t.Fatal(err)
	}
	before := map[string]*v1alpha1.ImagePullJob{}
	for _, other := range []*v1alpha1.ImagePullJob{
		one(job, "a", func(other *v1alpha1.ImagePullJob) {
			other.OwnerReferences, other.Spec.PullSecrets = nil, []string{"theirs"}
		}),
		one(job, "c", func(other *v1alpha1.ImagePullJob) { other.OwnerReferences[0].UID = "another" }),
	} {
		made, err := d.ImagePullJobs("default").Create(t.Context(), other, metav1.CreateOptions{})
		if err == nil {
			err = jobs.Add(made)
		}
		if err != nil {
			t.Fatal(err)
		}
		before[made.Name] = made
	}
	r, err := NewReconciler(Options{Distribution: d, ControllerOptions: podwright.ControllerOptions{Reader: caches.Reader{resourceLists: list, resourceJobs: jobs}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), types.NamespacedName{Namespace: "default", Name: "warm"}); err == nil {
		t.Error("that the name is taken is no error: it would not be tried again")
	}
	after, err := d.ImagePullJobs("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var created []string
	for i := range after.Items {
		found := &after.Items[i]
		if was := before[found.Name]; was == nil {
			created = append(created, found.Spec.Image)
		} else if was.UID != found.UID || was.ResourceVersion != found.ResourceVersion {
			t.Errorf("ImagePullJob %s of another author was %v, and is %v", found.Name, was, found)
		}
		delete(before, found.Name)
	}
	if diff := cmp.Diff([]string{"b"}, created); diff != "" || len(before) > 0 {
		t.Errorf("created (-want +got):\n%s; of others %d are gone", diff, len(before))
	}
}
