// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/tests/testbed"
)

// agents play the node agents, as long as the test runs: what a NodeImage asks for is pulled at once.
type agents struct {
	*testbed.Scene
	images client.NodeImageInterface
	fails  string // the node whose pulls fail
}

// start lets the agents work until the test ends.
func (a *agents) start() {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	a.Cleanup(func() { cancel(); running.Wait() })
	running.Go(func() {
		for ctx.Err() == nil {
			if list, err := a.images.List(ctx, metav1.ListOptions{}); err == nil {
				for i := range list.Items {
					a.work(ctx, &list.Items[i])
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
}

// work writes the whole status of a node as agents do: first that it pulls, then what came of it. An answer that comes too
// late is given again in the next round.
func (a *agents) work(ctx context.Context, n *v1alpha1.NodeImage) {
	for _, phase := range []v1alpha1.ImagePullPhase{v1alpha1.ImagePhasePulling, v1alpha1.ImagePhaseSucceeded} {
		if phase == v1alpha1.ImagePhaseSucceeded && n.Name == a.fails {
			phase = v1alpha1.ImagePhaseFailed
		}
		if !report(n, phase) {
			return
		}
		updated, err := a.images.UpdateStatus(ctx, n, metav1.UpdateOptions{})
		if err != nil {
			return
		}
		n = updated
	}
}

// report sets what a node says about the tasks that it has not finished. It returns false if there are none.
func report(n *v1alpha1.NodeImage, phase v1alpha1.ImagePullPhase) bool {
	states := map[string]v1alpha1.ImageStatus{}
	open := false
	for name, image := range n.Spec.Images {
		var tags []v1alpha1.ImageTagStatus
		for _, task := range image.Tags {
			state := v1alpha1.ImageTagStatus{Tag: task.Tag, Version: task.Version, Phase: phase}
			if phase != v1alpha1.ImagePhasePulling {
				state.CompletionTime = &metav1.Time{Time: time.Now()}
			}
			finished := false
			for _, known := range n.Status.ImageStatuses[name].Tags {
				if known.Tag == task.Tag && known.Version == task.Version && known.CompletionTime != nil {
					state, finished = known, true
				}
			}
			open = open || !finished
			tags = append(tags, state)
		}
		states[name] = v1alpha1.ImageStatus{Tags: tags}
	}
	n.Status.ImageStatuses = states
	return open
}

func TestImagePullJob(t *testing.T) {
	t.Parallel()
	s := &images{Scene: steady.NewScene(t, nil)}
	distribution, err := client.NewForConfig(steady.Config())
	if err != nil {
		t.Fatal(err)
	}
	s.client = distribution.NodeImages()
	jobs, nodes := distribution.ImagePullJobs(s.Namespace), s.awaitNodeImages()
	(&agents{Scene: s.Scene, images: s.client, fails: nodes[0]}).start()
	image := "registry.example/" + s.Namespace // of this test alone

	job := &v1alpha1.ImagePullJob{
		ObjectMeta: metav1.ObjectMeta{Name: "pull"},
		Spec:       v1alpha1.ImagePullJobSpec{Image: image, Selector: &v1alpha1.ImagePullJobNodeSelector{Names: []string{nodes[0], nodes[0]}}},
	}
	_, err = jobs.Create(t.Context(), job, metav1.CreateOptions{})
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusUnprocessableEntity || !strings.Contains(err.Error(), "spec.selector.names[1]") {
		s.Errorf("IMG-1.1: a name that stands twice is answered with %v, want code 422 and the field", err)
	}

	half := intstr.FromString("50%")
	job.Spec.Selector, job.Spec.Parallelism = &v1alpha1.ImagePullJobNodeSelector{Names: nodes}, &half
	created, err := jobs.Create(t.Context(), job, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if policy := created.Spec.PullPolicy; policy == nil || policy.TimeoutSeconds == nil || *policy.TimeoutSeconds != 600 {
		s.Errorf("IMG-1.1: no defaults: %+v", created.Spec)
	}
	s.AwaitAsking("IMG-1.5: the job is over, and one node has failed", func() string {
		job, err := jobs.Get(t.Context(), "pull", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if got := job.Status; got.Message != "job has completed" || got.Desired != int32(len(nodes)) || got.Failed != 1 || got.FailedNodes[0] != nodes[0] {
			return fmt.Sprintf("%d nodes, status %+v", len(nodes), got)
		}
		return ""
	})
	if err := jobs.Delete(t.Context(), "pull", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.AwaitAsking("IMG-2.3: no pull needs the tasks any more", func() string {
		list, err := s.client.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		for _, n := range list.Items {
			if task, stays := n.Spec.Images[image]; stays {
				return fmt.Sprintf("%s: %+v", n.Name, task)
			}
		}
		return ""
	})
	s.labelsAreMirrored(nodes[0])
}

// images is a fixture with NodeImages, which belong to no namespace.
type images struct {
	*testbed.Scene
	client client.NodeImageInterface
}

// awaitNodeImages waits until all nodes have NodeImages, and returns the names of those that stay: nodes of tests that run beside come
// and go.
func (s *images) awaitNodeImages() (names []string) {
	s.Helper()
	s.AwaitAsking("IMG-2.1: every node has a NodeImage", func() string {
		nodes, err := steady.Core.CoreV1().Nodes().List(s.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		names = nil
		for _, node := range nodes.Items {
			if !strings.HasPrefix(node.Name, "node-") {
				continue
			}
			names = append(names, node.Name)
			if _, err := s.client.Get(s.Context(), node.Name, metav1.GetOptions{}); err != nil {
				return err.Error()
			}
		}
		return ""
	})
	return names
}

// labelsAreMirrored labels a node, as a user does.
func (s *images) labelsAreMirrored(node string) {
	s.Helper()
	label := func(value string) {
		s.Helper()
		patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%s}}}`, s.Namespace, value)
		if _, err := steady.Core.CoreV1().Nodes().Patch(context.Background(), node, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			s.Fatalf("label node %s: %v", node, err)
		}
	}
	label(`"yes"`)
	defer label("null")
	s.AwaitAsking("IMG-2.1: the NodeImage has the labels of its node", func() string {
		n, err := s.client.Get(s.Context(), node, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if n.Labels[s.Namespace] != "yes" {
			return fmt.Sprint(n.Labels)
		}
		return ""
	})
}
