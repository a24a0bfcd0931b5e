// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/mirror"
)

// A node whose agent is silent: its tasks fail, which is told each time, and the NodeImage goes with the node. Its pods are probed by others,
// once it is a virtual one. It is among
// TestFaults: the manager waits only a second meanwhile, and there is one node more.
func testNodeWithoutAgent(t *testing.T, b *bed) {
	s := b.cloneSetFixture(t)
	distribution, err := client.NewForConfig(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	s.Manager.Kill()
	s.Cleanup(s.revive)
	hasty := s.Manager.With("--nodeimage-creation-delay=0s", "--nodeimage-response-timeout=1s")
	if err := hasty.Start(); err != nil {
		t.Fatal(err)
	}
	s.Cleanup(hasty.Kill)
	if err := s.webhooksAreCalled(t.Context()); err != nil {
		t.Fatal(err)
	}
	node := s.bareNode()
	s.AwaitAsking("IMG-2.1: the node has a NodeImage", func() string {
		if _, err := distribution.NodeImages().Get(t.Context(), node, metav1.GetOptions{}); err != nil {
			return err.Error()
		}
		return ""
	})

	// The job goes two seconds after it is over, so every state of it is looked at.
	jobs := distribution.ImagePullJobs(s.Namespace)
	var last sync.Map // the last status of every job that is over, by name
	followed := testbed.Follow(s.Scene, mirror.Of(jobs),
		func(_ map[types.UID]*v1alpha1.ImagePullJob, _, job **v1alpha1.ImagePullJob, _ string, _ bool) {
			if job != nil && (*job).Status.CompletionTime != nil {
				last.Store((*job).Name, (*job).Status)
			}
		})
	for round := range int32(2) {
		job := &v1alpha1.ImagePullJob{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pull-%d", round)},
			Spec: v1alpha1.ImagePullJobSpec{
				Image: "registry.example/" + s.Namespace, Selector: &v1alpha1.ImagePullJobNodeSelector{Names: []string{node}},
				CompletionPolicy: v1alpha1.CompletionPolicy{TTLSecondsAfterFinished: new(int32(2))},
			},
		}
		if _, err := jobs.Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		s.Await("IMG-2.4: the task fails without an answer", func() string {
			over, found := last.Load(job.Name)
			if !found {
				return "the job is not over"
			}
			if got := over.(v1alpha1.ImagePullJobStatus); got.Failed != 1 || fmt.Sprint(got.FailedNodes) != "["+node+"]" {
				return fmt.Sprintf("%+v", got)
			}
			return ""
		})
		s.awaitFailures(node, round+1)
		s.Await("IMG-1.5: the job goes when its time is over", func() string {
			if job, found := followed.Named(job.Name); found {
				return fmt.Sprintf("%+v", job.Status)
			}
			return ""
		})
	}

	probesOnVirtualNode(t, s, node)

	if err := s.Core.CoreV1().Nodes().Delete(t.Context(), node, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.AwaitAsking("IMG-2.1: the NodeImage goes with its node", func() string {
		n, err := distribution.NodeImages().Get(t.Context(), node, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return ""
		}
		return fmt.Sprintf("%+v, error %v", n, err)
	})
}

// bareNode creates a node that is ready, of which no kubelet takes care. It goes with the test.
func (s *fixture[T]) bareNode() string {
	s.Helper()
	nodes := s.Core.CoreV1().Nodes()
	node, err := nodes.Create(s.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "bare-"}, Spec: corev1.NodeSpec{Unschedulable: true},
	}, metav1.CreateOptions{})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = nodes.Delete(context.Background(), node.Name, metav1.DeleteOptions{}) })
	data, err := json.Marshal(corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Hour)), LastHeartbeatTime: metav1.Now(),
	}}}})
	if err != nil {
		s.Fatal(err)
	}
	if _, err := nodes.Patch(s.Context(), node.Name, types.StrategicMergePatchType, data, metav1.PatchOptions{}, "status"); err != nil {
		s.Fatal(err)
	}
	return node.Name
}

// awaitFailures waits until it is told so often of a node that a pull has failed.
func (s *fixture[T]) awaitFailures(node string, times int32) {
	s.Helper()
	s.AwaitAsking(fmt.Sprintf("IMG-2.4: it is told %d times", times), func() string {
		events, err := s.Core.CoreV1().Events("default").List(s.Context(), metav1.ListOptions{
			FieldSelector: "reason=" + v1alpha1.ImagePullEventFailed + ",involvedObject.kind=NodeImage,involvedObject.name=" + node,
		})
		if err != nil {
			return err.Error()
		}
		var told int32
		for _, event := range events.Items {
			told += event.Count
		}
		if told < times {
			return fmt.Sprintf("%d times", told)
		}
		return ""
	})
}
