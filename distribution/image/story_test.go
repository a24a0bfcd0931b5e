// SPDX-License-Identifier: Apache-2.0

package image

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

const succeeded, failed, pulling = v1alpha1.ImagePhaseSucceeded, v1alpha1.ImagePhaseFailed, v1alpha1.ImagePhasePulling

// expectTasks compares the tasks of all nodes; see cluster.tasks.
func (c *cluster) expectTasks(what string, want ...string) {
	c.Helper()
	if diff := cmp.Diff(append([]string{}, want...), c.tasks()); diff != "" {
		c.Errorf("%s: tasks (-want +got):\n%s", what, diff)
	}
}

func (c *cluster) expectMessage(job, want string) {
	c.Helper()
	if status := c.job(job).Status; status.Message != want {
		c.Errorf("job %s has the message %q, want %q; status %+v", job, status.Message, want, status)
	}
}

func (c *cluster) deleteJob(name string) {
	c.Helper()
	c.must(c.jobs.Delete(c.Context(), name, metav1.DeleteOptions{}))
	c.pause(time.Second)
}

// begin has nodes with NodeImages, and both controllers running.
func (c *cluster) begin(nodes int) {
	c.Helper()
	c.addNodes(nodes)
	c.share()
	c.start()
	c.pause(31 * time.Second)
	c.ForgetRequests()
}

func TestJobFromBeginningToEnd(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.begin(3)
		c.addSecret("s", "one")
		c.addJob("pull", "pullSecrets: [s]\ncompletionPolicy: {ttlSecondsAfterFinished: 30}")
		c.pause(100 * time.Millisecond)
		c.expectTasks("IMG-1.4: parallelism 1", "n0000 nginx:1 v1 pull")
		c.expectMessage("pull", "job is running, progress 0.0%")
		c.agents(always(succeeded))
		c.pause(6 * time.Second)
		c.expectTasks("IMG-1.4: the next one", "n0000 nginx:1 v1 pull", "n0001 nginx:1 v1 pull")
		c.expectMessage("pull", "job is running, progress 33.3%")
		c.agents(always(failed))
		c.pause(time.Second)
		c.agents(always(succeeded))
		c.pause(time.Second)
		want := v1alpha1.ImagePullJobStatus{ObservedGeneration: 1, Desired: 3, Succeeded: 2, Failed: 1, FailedNodes: []string{"n0001"}, Message: "job has completed"}
		got := c.job("pull").Status
		got.StartTime, got.CompletionTime = nil, nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("IMG-1.5: status (-want +got):\n%s", diff)
		}
		secrets := c.nodeImage("n0000").Spec.Images["nginx"].PullSecrets
		if diff := cmp.Diff([]v1alpha1.ReferenceObject{{Namespace: v1alpha1.DaemonConfigNamespace, Name: copyName("s")}}, secrets); diff != "" {
			t.Errorf("IMG-1.6: secrets (-want +got):\n%s", diff)
		}
		c.pause(30 * time.Second)
		if list, err := c.jobs.List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) > 0 {
			t.Errorf("IMG-1.5: the job is there after its TTL: %+v, %v", list, err)
		}
		c.pause(time.Second)
		c.expectTasks("IMG-2.3: nobody needs the tasks any more")
	})
}

func TestJobWithoutNodesCompletesAtOnce(t *testing.T) {
	play(t, func(_ *testing.T, c *cluster) {
		c.begin(1)
		c.addJob("pull", "selector: {names: [other]}")
		c.expectMessage("pull", "job has completed: no node is selected")
		c.expectSent("one status", []string{"1 patch imagepulljobs/status"}, []string{})
	})
}

func TestJobServesNewNodes(t *testing.T) {
	for _, spec := range []string{"completionPolicy: {type: Never}", "completionPolicy: {type: Never}\nselector: {matchLabels: {new: 'yes'}}",
		"completionPolicy: {type: Never}\nselector: {names: [new]}", "completionPolicy: {type: Never}\nselector: {}"} {
		t.Run(spec, func(t *testing.T) {
			play(t, func(_ *testing.T, c *cluster) {
				c.share()
				c.start()
				c.pause(time.Second)
				c.addJob("pull", spec)
				c.expectMessage("pull", "job is running, no progress")
				c.pause(time.Minute)
				c.addNode("new", map[string]string{"new": "yes"})
				c.pause(29 * time.Second)
				c.expectTasks("IMG-2.1: the node has been ready for less than 30 s")
				c.pause(2 * time.Second)
				c.expectTasks("IMG-1.3: the node set is evaluated anew", "new nginx:1 v1 pull")
				c.agents(always(succeeded))
				c.pause(time.Minute)
				c.expectMessage("pull", "job is running, progress 100.0%")
			})
		})
	}
}

func TestJobFollowsLabels(t *testing.T) {
	play(t, func(_ *testing.T, c *cluster) {
		c.begin(2)
		c.addJob("pull", "completionPolicy: {type: Never}\nselector: {matchLabels: {gpu: 'yes'}}")
		c.expectTasks("no node matches")
		c.label("n0001", `{"gpu":"yes"}`)
		c.expectTasks("IMG-1.3: the label of a node reaches its NodeImage, and the job", "n0001 nginx:1 v1 pull")
		c.label("n0001", `{"gpu":null}`)
		c.pause(6 * time.Second)
		c.expectMessage("pull", "job is running, no progress")
	})
}

// label changes labels of a node.
func (c *cluster) label(node, labels string) {
	c.Helper()
	_, err := c.kube.CoreV1().Nodes().Patch(c.Context(), node, types.MergePatchType, []byte(`{"metadata":{"labels":`+labels+`}}`), metav1.PatchOptions{})
	c.must(err)
	c.pause(time.Second)
}

func TestJobFollowsPods(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.begin(3)
		pods := c.kube.CoreV1().Pods(namespace)
		add := func(name, node string, labels map[string]string) {
			t.Helper()
			_, err := pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: corev1.PodSpec{NodeName: node}}, metav1.CreateOptions{})
			c.must(err)
			c.pause(time.Second)
		}
		web := map[string]string{"app": "web"}
		add("a", "n0002", web)
		c.addJob("pull", "parallelism: 9\npodSelector: {matchLabels: {app: web}}\ncompletionPolicy: {type: Never}")
		c.expectTasks("IMG-1.3: the nodes of pods", "n0002 nginx:1 v1 pull")
		add("b", "n0001", web)
		c.expectTasks("IMG-1.3: a pod that appears later", "n0001 nginx:1 v1 pull", "n0002 nginx:1 v1 pull")
		add("c", "n0000", map[string]string{"app": "db"})
		jobReconciles := c.jobReconciles.Count()
		_, err := pods.Patch(t.Context(), "b", types.MergePatchType, []byte(`{"status":{"phase":"Running"}}`), metav1.PatchOptions{}, "status")
		c.must(err)
		c.pause(time.Second)
		if n := c.jobReconciles.Count() - jobReconciles; n > 0 {
			t.Errorf("%d reconciles for what a pod reports", n)
		}
		_, err = pods.Patch(t.Context(), "c", types.MergePatchType, []byte(`{"metadata":{"labels":{"app":"web"}}}`), metav1.PatchOptions{})
		c.must(err)
		c.pause(6 * time.Second)
		if status := c.job("pull").Status; status.Desired != 3 {
			t.Errorf("IMG-1.5: a label that matches now: %+v", status)
		}
		c.must(pods.Delete(t.Context(), "c", metav1.DeleteOptions{}))
		c.pause(6 * time.Second)
		if status := c.job("pull").Status; status.Desired != 2 {
			t.Errorf("IMG-1.5: a pod that is gone: %+v", status)
		}
	})
}

func TestDeadline(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.begin(3)
		c.addJob("pull", "completionPolicy: {activeDeadlineSeconds: 60}")
		c.agents(always(succeeded))
		c.pause(59 * time.Second)
		c.agents(always(pulling))
		c.ForgetRequests()
		c.pause(2 * time.Second)
		c.expectMessage("pull", "job exceeds activeDeadlineSeconds")
		if diff := cmp.Diff([]string{"n0001", "n0002"}, c.job("pull").Status.FailedNodes); diff != "" {
			t.Errorf("IMG-1.5: failed nodes (-want +got):\n%s", diff)
		}
		c.expectSent("IMG-1.5: one write at the deadline", []string{"1 patch imagepulljobs/status"}, nil)
	})
}

// A job that takes longer than the TTL of its tasks ends all the same.
func TestLongJobEnds(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.begin(3)
		c.addJob("pull", "pullPolicy: {timeoutSeconds: 1, backoffLimit: 0}") // TTL 300 to 599 s
		for range 3 {
			c.agents(always(pulling))
			c.pause(20 * time.Minute)
			c.agents(always(succeeded))
			c.pause(time.Second)
		}
		c.expectMessage("pull", "job has completed")
		if status := c.job("pull").Status; status.Succeeded != 3 {
			t.Errorf("IMG-2.3 difference: %+v", status)
		}
		c.pause(10 * time.Minute)
		c.expectTasks("IMG-2.3: the TTL counts once the job is over")
	})
}

func TestJobsShareNodes(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.begin(2)
		c.addJob("a", "parallelism: 2")
		c.agents(always(pulling))
		c.addJob("b", "parallelism: 2\nsandboxConfig: {labels: {x: y}}")
		c.expectTasks("IMG-1.4: the version rises with another owner", "n0000 nginx:1 v2 a b", "n0001 nginx:1 v2 a b")
		c.agents(always(succeeded))
		c.pause(time.Second)
		c.expectMessage("a", "job has completed")
		c.expectMessage("b", "job has completed")
		c.deleteJob("a")
		c.expectTasks("IMG-2.3: owner lists are trimmed", "n0000 nginx:1 v2 b", "n0001 nginx:1 v2 b")
		c.deleteJob("b")
		c.expectTasks("IMG-2.3: all owners are gone")
	})
}

func TestImageChanges(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.begin(1)
		c.addJob("pull", "")
		_, err := c.jobs.Patch(t.Context(), "pull", types.MergePatchType, []byte(`{"spec":{"image":"nginx:2"}}`), metav1.PatchOptions{})
		c.must(err)
		c.pause(time.Second)
		c.expectTasks("IMG-1.1: the old task stays", "n0000 nginx:1 v1 pull", "n0000 nginx:2 v1 pull")
		c.agents(always(succeeded))
		c.pause(time.Second)
		c.expectMessage("pull", "job has completed")
	})
}

// A node that has as many images as it can have gets the task when one is gone.
func TestNodeIsFull(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.begin(1)
		images := map[string]v1alpha1.ImageSpec{}
		for i := range v1alpha1.MaxNodeImageImages {
			images[fmt.Sprint("image", i)] = v1alpha1.ImageSpec{Tags: []v1alpha1.ImageTagSpec{{Tag: "1", CreatedAt: &metav1.Time{Time: time.Now()}}}}
		}
		full, err := json.Marshal(map[string]any{"spec": v1alpha1.NodeImageSpec{Images: images}})
		c.must(err)
		patch := func(data []byte) {
			t.Helper()
			_, err := c.images.Patch(t.Context(), "n0000", types.MergePatchType, data, metav1.PatchOptions{})
			c.must(err)
			c.pause(time.Second)
		}
		patch(full)
		c.addJob("pull", "")
		c.pause(time.Second)
		if n := len(c.tasks()); n != v1alpha1.MaxNodeImageImages {
			t.Errorf("IMG-2.2: the node has %d tasks", n)
		}
		patch([]byte(`{"spec":{"images":{"image7":null}}}`))
		if task := c.nodeImage("n0000").Spec.Images["nginx"]; len(task.Tags) != 1 {
			t.Error("IMG-2.2: the node has room, and has not got the task")
		}
	})
}

func TestWatchdog(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.begin(2)
		c.addJob("pull", "parallelism: 2\npullPolicy: {timeoutSeconds: 100, backoffLimit: 1}")
		c.agents(func(node, _, _ string) v1alpha1.ImagePullPhase {
			if node == "n0001" {
				return pulling
			}
			return ""
		})
		c.pause(59 * time.Second)
		c.expectMessage("pull", "job is running, progress 0.0%")
		c.ForgetRequests()
		c.pause(2 * time.Second)
		c.expectMessage("pull", "job is running, progress 50.0%")
		c.expectSent("IMG-2.4: one write", nil, []string{"1 patch nodeimages/status"})
		want := []string{
			"Warning PullImageFailed: Image nginx:1, node has not responded for a long time",
			"Warning PullImageFailed: Image nginx:1, node has not responded for a long time on node n0000",
		}
		if diff := cmp.Diff(want, c.events.All()); diff != "" {
			t.Errorf("IMG-2.4: events (-want +got):\n%s", diff)
		}
		status := c.nodeImage("n0000").Status
		if status.Desired != 1 || status.Failed != 1 || status.ImageStatuses["nginx"].Tags[0].Phase != failed {
			t.Errorf("IMG-2.4, IMG-2.5: status %+v", status)
		}
	})
}

// An agent of OpenKruise 1.4 reports nothing before the end of a pull. Who has such agents waits for longer.
func TestLateReport(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.nodeOptions.Timing.ResponseTimeout = time.Hour
		c.begin(1)
		c.addJob("pull", "")
		c.pause(35 * time.Minute)
		c.agents(always(succeeded))
		c.pause(time.Second)
		if status := c.job("pull").Status; status.Succeeded != 1 {
			t.Errorf("IMG-2.4: a pull that took less than Timing.ResponseTimeout has failed: %+v", status)
		}
	})
}

func TestNodeThatIsNotReady(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.nodeOptions.Timing.ResponseTimeout = time.Hour
		c.begin(1)
		c.addJob("pull", "")
		c.pause(time.Minute)
		condition := `{"status":{"conditions":[{"type":"Ready","status":"Unknown","lastTransitionTime":"` + time.Now().Format(time.RFC3339) + `"}]}}`
		_, err := c.kube.CoreV1().Nodes().Patch(t.Context(), "n0000", types.StrategicMergePatchType, []byte(condition), metav1.PatchOptions{}, "status")
		c.must(err)
		c.pause(59 * time.Second)
		c.expectMessage("pull", "job is running, progress 0.0%")
		c.pause(2 * time.Second)
		c.expectMessage("pull", "job has completed")
	})
}

func TestNodesComeAndGo(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.begin(2)
		c.addNode("virtual", map[string]string{"type": "virtual-kubelet"})
		fake := &v1alpha1.NodeImage{ObjectMeta: metav1.ObjectMeta{Name: "fake", Labels: map[string]string{v1alpha1.FakeNodeImageLabel: ""}}}
		for _, n := range []*v1alpha1.NodeImage{fake, {ObjectMeta: metav1.ObjectMeta{Name: "nobody"}}} {
			_, err := c.images.Create(t.Context(), n, metav1.CreateOptions{})
			c.must(err)
		}
		c.must(c.kube.CoreV1().Nodes().Delete(t.Context(), "n0001", metav1.DeleteOptions{}))
		c.pause(time.Minute)
		var names []string
		for _, n := range c.nodeImages() {
			names = append(names, n.Name)
		}
		if diff := cmp.Diff([]string{"fake", "n0000"}, names); diff != "" {
			t.Errorf("IMG-2.1: NodeImages (-want +got):\n%s", diff)
		}
		if errs := append(c.jobReconciles.Errors(), c.nodeReconciles.Errors()...); len(errs) > 0 {
			t.Errorf("errors: %v", errs)
		}
	})
}
