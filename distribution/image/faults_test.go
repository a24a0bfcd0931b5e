// SPDX-License-Identifier: Apache-2.0

package image

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// failing makes the requests of a controller that begin like that fail, as
// often as times says; less than 0: always.
func failing(user, what string, times int32, err error) func(fakecluster.Request) error {
	var left atomic.Int32
	left.Store(times)
	return func(r fakecluster.Request) error {
		if r.User == user && strings.HasPrefix(r.String()+" "+r.Name, what) && (times < 0 || left.Add(-1) >= 0) {
			return err
		}
		return nil
	}
}

// One node that cannot get its task does not hold up the others.
func TestOneNodeFails(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.begin(3)
		c.FailBefore(failing(jobUser, "patch nodeimages n0001", -1, fixture.ErrInternal))
		c.addJob("pull", "parallelism: 3")
		c.pause(time.Second)
		c.expectTasks("the others", "n0000 nginx:1 v1 pull", "n0002 nginx:1 v1 pull")
		if active := c.job("pull").Status.Active; active != 2 {
			t.Errorf("%d nodes are active, want 2", active)
		}
		c.FailBefore(nil)
		c.agents(always(succeeded))
		c.pause(6 * time.Minute)
		c.agents(always(succeeded))
		c.pause(time.Second)
		c.expectMessage("pull", "job has completed")
	})
}

// Whatever answer is lost, every node gets its task once, and loses it once.
func TestLostAnswers(t *testing.T) {
	for _, lost := range []struct{ user, what string }{
		{jobUser, "patch nodeimages n0001"}, {jobUser, "patch imagepulljobs/status"}, {jobUser, "delete imagepulljobs"},
		{nodeUser, "patch nodeimages n0001"}, {nodeUser, "create nodeimages"},
	} {
		t.Run(lost.user+": "+lost.what, func(t *testing.T) {
			play(t, func(t *testing.T, c *cluster) {
				var happened atomic.Bool
				fail := failing(lost.user, lost.what, 1, fixture.ErrLost)
				c.FailAfter(func(r fakecluster.Request) error {
					err := fail(r)
					happened.CompareAndSwap(false, err != nil)
					return err
				})
				c.begin(2)
				c.addJob("pull", "parallelism: 2\ncompletionPolicy: {ttlSecondsAfterFinished: 5}")
				c.pause(time.Second)
				c.expectTasks("IMG-1.4", "n0000 nginx:1 v1 pull", "n0001 nginx:1 v1 pull")
				c.agents(always(succeeded))
				c.pause(time.Minute)
				c.expectTasks("IMG-2.3")
				if list, err := c.jobs.List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) > 0 {
					t.Errorf("the job is still there: %+v, %v", list, err)
				}
				if !happened.Load() {
					t.Error("no answer was lost")
				}
			})
		})
	}
}

// Another writer of the same NodeImage costs a second attempt, and nothing of
// what it wrote.
func TestConflicts(t *testing.T) {
	play(t, func(_ *testing.T, c *cluster) {
		c.begin(1)
		var once atomic.Bool
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User == jobUser && r.String() == "patch nodeimages" && once.CompareAndSwap(false, true) {
				_, err := c.images.Patch(c.Context(), "n0000", types.MergePatchType,
					[]byte(`{"spec":{"images":{"nginx":{"tags":[{"tag":"0","createdAt":"2000-01-01T00:00:00Z","version":1}]}}}}`), metav1.PatchOptions{})
				return err
			}
			return nil
		})
		c.addJob("pull", "")
		c.pause(time.Second)
		c.expectTasks("both", "n0000 nginx:0 v1", "n0000 nginx:1 v1 pull")
	})
}

// The manager was down when jobs and nodes went.
func TestRestart(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.begin(3)
		c.addJob("gone", "parallelism: 9")
		c.addJob("stays", "parallelism: 9\ncompletionPolicy: {type: Never}")
		c.stop()
		c.must(c.jobs.Delete(t.Context(), "gone", metav1.DeleteOptions{}))
		c.must(c.kube.CoreV1().Nodes().Delete(t.Context(), "n0002", metav1.DeleteOptions{}))
		c.share()
		c.start()
		c.pause(time.Second)
		c.expectTasks("IMG-2.3: at once", "n0000 nginx:1 v2 stays", "n0001 nginx:1 v2 stays")
	})
}

// A leader whose cache of jobs lags behind that of NodeImages takes away nothing.
func TestCacheOfJobsLags(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.addNodes(1)
		c.share()
		c.startNodes()
		c.pause(31 * time.Second)
		c.Hold("imagepulljobs")
		job := c.addJob("pull", "")
		given, err := images.Patch(c.nodeImage("n0000"), struct{}{}, map[string]any{"spec": v1alpha1.NodeImageSpec{
			Images: map[string]v1alpha1.ImageSpec{"nginx": {Tags: []v1alpha1.ImageTagSpec{{
				Tag: "1", Version: 1, CreatedAt: &metav1.Time{Time: time.Now()}, OwnerReferences: append(owners("gone"), images.TaskOwner(job)),
			}}}}}})
		c.must(err)
		_, err = c.images.Patch(t.Context(), "n0000", types.MergePatchType, given, metav1.PatchOptions{})
		c.must(err)
		c.pause(5 * time.Second)
		c.expectTasks("a job that the cache does not show yet", "n0000 nginx:1 v1 gone pull")
		c.Release("imagepulljobs")
		c.pause(5 * time.Second)
		c.expectTasks("the cache shows it", "n0000 nginx:1 v1 pull")
		if errs := c.nodeReconciles.Errors(); len(errs) > 0 {
			t.Errorf("errors: %v", errs)
		}
	})
}

// owners are references to jobs that do not exist.
func owners(names ...string) (refs []corev1.ObjectReference) {
	for _, name := range names {
		refs = append(refs, images.TaskOwner(&v1alpha1.ImagePullJob{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name)}}))
	}
	return refs
}

// A leader whose cache of nodes lags behind takes away nothing.
func TestCacheOfNodesLags(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.share()
		c.startNodes()
		c.pause(time.Second)
		c.Hold("nodes")
		c.addNodes(1)
		_, err := c.images.Create(t.Context(), &v1alpha1.NodeImage{ObjectMeta: metav1.ObjectMeta{Name: "n0000"}}, metav1.CreateOptions{})
		c.must(err)
		uid := c.nodeImage("n0000").UID
		c.pause(5 * time.Second)
		if c.nodeImage("n0000").UID != uid {
			t.Error("the NodeImage of a node was deleted")
		}
		c.Release("nodes")
		c.pause(5 * time.Second)
		c.ForgetRequests()
		c.pause(time.Minute)
		c.expectSent("the cache shows it", nil, []string{})
	})
}

// Stale caches do not have a task assigned twice, and never more at a time
// than parallelism allows.
func TestStaleCaches(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.begin(4)
		c.Hold("nodeimages")
		c.addJob("pull", "parallelism: 2")
		c.pause(time.Second)
		c.must(patchJob(c, `{"metadata":{"labels":{"a":"b"}}}`))
		c.pause(10 * time.Second)
		want := []string{"n0000 nginx:1 v1 pull", "n0001 nginx:1 v1 pull"}
		c.expectTasks("held", want...)
		c.Release("nodeimages")
		c.pause(10 * time.Second)
		c.expectTasks("released", want...)
		c.agents(always(succeeded))
		c.Drop("nodeimages")
		c.Compact("nodeimages")
		c.pause(2 * time.Minute)
		if diff := cmp.Diff(4, len(c.tasks())); diff != "" {
			t.Errorf("tasks after a relist: %v", c.tasks())
		}
	})
}

func patchJob(c *cluster, patch string) error {
	_, err := c.jobs.Patch(c.Context(), "pull", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// A spec that cannot work costs one write, and its repair is seen.
func TestBrokenSpec(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.begin(1)
		c.addJob("pull", "image: Nginx")
		c.pause(time.Hour)
		c.expectSent("one write", []string{"1 patch imagepulljobs/status"}, []string{})
		if message := c.job("pull").Status.Message; !strings.HasPrefix(message, `spec.image "Nginx": the name is`) {
			t.Errorf("message %q", message)
		}
		c.must(patchJob(c, `{"spec":{"image":"nginx:1"}}`))
		c.pause(time.Second)
		c.expectTasks("repaired", "n0000 nginx:1 v1 pull")
	})
}
