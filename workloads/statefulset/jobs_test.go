// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// memoryJobs keeps jobs in memory.
type memoryJobs struct {
	lock sync.Mutex
	jobs []*distributionv1alpha1.ImagePullJob
	log  []string

	fails, unreadable error
}

func (j *memoryJobs) Owned(namespace string, owner types.UID) (names []string, err error) {
	j.lock.Lock()
	defer j.lock.Unlock()
	for _, job := range j.jobs {
		if job.Namespace == namespace && job.OwnerReferences[0].UID == owner {
			names = append(names, job.Name)
		}
	}
	return names, j.unreadable
}

func (j *memoryJobs) Create(_ context.Context, job *distributionv1alpha1.ImagePullJob) error {
	j.lock.Lock()
	defer j.lock.Unlock()
	if j.fails != nil {
		return j.fails
	}
	j.jobs = append(j.jobs, job)
	j.log = append(j.log, "create "+job.Spec.Image)
	return nil
}

func (j *memoryJobs) Delete(_ context.Context, _, name string) error {
	j.lock.Lock()
	defer j.lock.Unlock()
	j.jobs = slices.DeleteFunc(j.jobs, func(job *distributionv1alpha1.ImagePullJob) bool { return job.Name == name })
	j.log = append(j.log, "delete")
	return j.fails
}

// withJobs has the controller pull images ahead.
func (c *cluster) withJobs() *memoryJobs {
	c.T.Helper()
	jobs := &memoryJobs{}
	c.options.Jobs, c.options.Features.PreDownload = jobs, true
	c.restart()
	return jobs
}

func TestImagePullJobs(t *testing.T) {
	t.Run("IP-30, IP-32: images are pulled ahead once, and the jobs go after the update", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			jobs := c.withJobs()
			_, stop := c.start()
			defer stop()
			c.create(5, withParallel)
			c.ExpectSettled()
			c.Events.Forget()
			c.SetImage("nginx:2")
			c.ExpectSettled()
			c.whole()
			if diff := cmp.Diff([]string{"create nginx:2", "delete"}, jobs.log); diff != "" {
				t.Errorf("jobs (-want +got):\n%s", diff)
			}
			name := c.get().Status.UpdateRevision
			revision, err := c.Kube.AppsV1().ControllerRevisions(web.Namespace).Get(t.Context(), name, metav1.GetOptions{})
			c.Must(err)
			if revision.Labels[inplacev1alpha1.PreDownloadCreatedLabel] != "true" {
				t.Errorf("labels of the revision %v", revision.Labels)
			}
			if n := c.Events.Count("CreatedImagePullJob"); n != 1 {
				t.Errorf("events %q", c.Events.All())
			}
		})
	})
	t.Run("the next reconcile waits until the cache shows the labelled revision", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			jobs := c.withJobs()
			c.create(5, withParallel)
			c.Settle()
			c.SetImage("nginx:2")
			c.Hold("controllerrevisions")
			c.MustReconcile()
			if requests := c.MustReconcile(); len(requests) > 0 || len(jobs.log) != 1 {
				t.Errorf("requests %v, jobs %v", requests, jobs.log)
			}
		})
	})
	t.Run("an update goes on where no job can be created", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			jobs := c.withJobs()
			c.create(5, withParallel)
			c.Settle()
			c.SetImage("nginx:2")
			jobs.fails = errors.New("no such kind")
			if _, _, err := c.ReconcileOnce(); !errors.Is(err, jobs.fails) {
				t.Errorf("error %v, want that of the jobs", err)
			}
			if c.pod("web-4").Spec.Containers[0].Image != "nginx:2" {
				t.Error("the update did not begin")
			}
		})
	})
	t.Run("a cache of jobs that fails ends the reconcile", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			jobs := c.withJobs()
			jobs.unreadable = errors.New("no cache")
			c.create(5, withParallel)
			if requests, _, err := c.ReconcileOnce(); !errors.Is(err, jobs.unreadable) || len(requests) > 0 {
				t.Errorf("error %v, requests %v", err, requests)
			}
		})
	})
}
