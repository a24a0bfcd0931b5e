// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/testbed"
)

// The nodes of a job pull one after another, unless it says otherwise.
func TestImageParallelism(t *testing.T) {
	t.Parallel()
	p := newPuller(t)
	image, _ := p.image("v1", registry.Image{})
	release := p.hold(image)
	p.pull("all", image, func(spec *v1alpha1.ImagePullJobSpec) { spec.Selector = nil })
	p.awaitHeld(image, 1)
	p.awaitJob("all", "one of two nodes pulls", counts(2, 1, 0, 0))
	release()
	p.completed("all")
	first := p.awaitState(nodeName(0), image, v1alpha1.ImagePhaseSucceeded)
	second := p.awaitState(nodeName(1), image, v1alpha1.ImagePhaseSucceeded)
	if second.StartTime.Before(first.CompletionTime) {
		t.Errorf("the second node begins at %s, before the first has ended at %s", second.StartTime, first.CompletionTime)
	}
	p.checkPulls(image, 2)
}

// A selector chooses nodes by their labels. A job without nodes is over at once.
func TestImageNodeSelector(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	p := newPuller(t)
	image, _ := p.image("v1", registry.Image{})
	zone := func(values ...string) func(*v1alpha1.ImagePullJobSpec) {
		return func(spec *v1alpha1.ImagePullJobSpec) {
			spec.Selector = &v1alpha1.ImagePullJobNodeSelector{
				MatchLabels:      map[string]string{corev1.LabelOSStable: "linux"},
				MatchExpressions: []v1alpha1.ImagePullJobNodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: metav1.LabelSelectorOpIn, Values: values}},
			}
		}
	}
	p.pull("nowhere", image, zone("zone-z"))
	if job := p.completed("nowhere"); job.Status.Desired != 0 {
		t.Errorf("status %+v", job.Status)
	}
	p.pull("second", image, zone("zone-b", "zone-z"))
	if job := p.completed("second"); job.Status.Desired != 1 {
		t.Errorf("status %+v", job.Status)
	}
	p.awaitState(nodeName(1), image, v1alpha1.ImagePhaseSucceeded)
	if p.onNode(0, image) || !p.onNode(1, image) {
		t.Error("the image is on the wrong node")
	}
}

// A job that never ends serves the nodes of pods that come later too.
func TestImagePodSelector(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	p := newPuller(t)
	image, _ := p.image("v1", registry.Image{})
	p.pull("never", image, func(spec *v1alpha1.ImagePullJobSpec) {
		spec.Selector, spec.PodSelector = nil, &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		spec.CompletionPolicy.Type = v1alpha1.Never
	})
	p.awaitJob("never", "no nodes", func(s *v1alpha1.ImagePullJobStatus) string {
		if s.Message != v1alpha1.ImagePullJobMessageNoProgress {
			return s.Message
		}
		return ""
	})
	for i, agent := range bed.Agents {
		p.pod(agent.Node.Name, []string{"main=" + endsAtOnce}, func(pod *corev1.Pod) {
			pod.Labels, pod.Spec.NodeName = map[string]string{"app": "web"}, agent.Node.Name
		})
		p.awaitState(agent.Node.Name, image, v1alpha1.ImagePhaseSucceeded)
		if !p.onNode(i, image) || i == 0 && p.onNode(1, image) {
			t.Errorf("pod %d: the image is on the wrong node", i)
		}
		job := p.awaitJob("never", "the nodes of all pods", counts(int32(i+1), 0, int32(i+1), 0))
		if job.Status.CompletionTime != nil {
			t.Errorf("the job is over: %+v", job.Status)
		}
	}
	p.remove("never", image)
}

// Annotations of the sandbox reach the runtime. Of them, containerd reads one,
// which says for which of its runtimes to unpack, and complains that a later
// version will not. It reads no labels; that those go with every pull too is
// tested with a runtime that is made for it.
func TestImageSandbox(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	p := newPuller(t)
	const annotation = "io.containerd.cri.runtime-handler"
	complaints := func() int {
		log, err := os.ReadFile(filepath.Join(bed.Agents[0].Node.Dir, "containerd.log"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(log), annotation)
	}
	plain, _ := p.image("plain", registry.Image{})
	p.pull("plain", plain)
	p.completed("plain")
	if n := complaints(); n != 0 {
		t.Fatalf("containerd writes of the annotation %d times before it is there", n)
	}
	image, _ := p.image("v1", registry.Image{})
	p.pull("sandbox", image, func(spec *v1alpha1.ImagePullJobSpec) {
		spec.SandboxConfig = &v1alpha1.SandboxConfig{
			Labels: map[string]string{"team": "web"}, Annotations: map[string]string{annotation: "runc"},
		}
	})
	p.completed("sandbox")
	if n := complaints(); n != 1 {
		t.Errorf("containerd writes of the annotation %d times, want once", n)
	}
}
