// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
)

// pullPods has a manager pull through the kubelets, with the image of sandboxes, which the nodes have.
const pullPods = "--nodeimage-pull-pods-image=registry.k8s.io/pause:3.10.2"

// pullThroughKubelets has a manager at work that pulls through the kubelets, and an agent on the first node that does not.
func pullThroughKubelets(t *testing.T) *testbed.Manager {
	t.Helper()
	manager := bed.Manager.With(pullPods)
	bed.Manager.Kill()
	if err := manager.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testbed.Patience)
	defer cancel()
	if err := manager.AwaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	usual := bed.Agents[0]
	usual.Kill()
	agent, err := bed.NewAgent(t.Context(), usual.Node, "--pull-images=false")
	if err != nil {
		t.Fatal(err)
	}
	restartAgent(t, agent, func() {})
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s", manager.LogTail(""))
		}
		manager.Kill()
		agent.Kill()
		startAgain(t, bed.Manager, usual)
	})
	return manager
}

// The kubelet pulls with the secret of the job and notes it. So the image is there for a pod that has the secret,
// without another pull, and for no pod or job of another namespace.
func TestPullThroughKubelet(t *testing.T) {
	bank, evil := newPuller(t), newPuller(t)
	pullThroughKubelets(t)
	enforce(bank, "restricted")
	image, _ := bank.image("v1", registry.Image{})
	behave(t, image, registry.Behaviour{Username: "user", Password: "right"})
	bank.secret("ours", "registry.test", "right")
	bank.pull("job", image, func(spec *v1alpha1.ImagePullJobSpec) { spec.PullSecrets = []string{"ours"} })
	bank.completed("job")
	bank.Await("the pod that has pulled is gone", func() string {
		for _, pod := range bank.Pods.All() {
			return podstate.Describe(pod, false)
		}
		return ""
	})
	enforce(bank, "privileged") // the shells of the tests run as root
	records, err := filepath.Glob(filepath.Join(bed.Agents[0].Node.Dir, "kubelet/image_manager/pulled/*"))
	noted := ""
	for _, file := range records {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), `"registry.test/`+bank.Namespace) {
			noted = string(data)
		}
	}
	if err != nil || !strings.Contains(noted, `"namespace":"`+bank.Namespace+`","name":"ours"`) {
		t.Errorf("the kubelet has noted %q (error %v), want the secret of the job", noted, err)
	}
	uses := func(secret string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Image = image
			if secret != "" {
				pod.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: secret}}
			}
		}
	}
	before := bed.Control.Images().Pulls(image)
	bank.pod("web", []string{"main=" + endsAtOnce}, uses("ours"))
	if after := bed.Control.Images().Pulls(image); after != before {
		t.Errorf("%d pulls for a pod that has the secret", after-before)
	}
	evil.create("web", []string{"main=" + endsAtOnce}, uses(""))
	evil.AwaitPod("web", "it may not use the image", func(pod *corev1.Pod) string {
		w := podstate.ContainerStatus(pod, "main").State.Waiting
		if w == nil || w.Reason != "ErrImagePull" && w.Reason != "ImagePullBackOff" {
			return podstate.Describe(pod, false)
		}
		return ""
	})
	evil.pull("job", image, func(spec *v1alpha1.ImagePullJobSpec) { spec.PullPolicy.BackoffLimit = new(int32(0)) })
	evil.failed("job", v1alpha1.ImagePullJobMessageCompleted)
}

// An image that cannot be pulled has failed after its attempts. An image also fails if the API server refuses its
// pod, here because of a quota. The status says why.
func TestPullThroughKubeletFails(t *testing.T) {
	testbed.Long(t)
	p := newPuller(t)
	pullThroughKubelets(t)
	missing := "registry.test/" + p.Namespace + ":missing"
	p.pull("missing", missing)
	p.failed("missing", v1alpha1.ImagePullJobMessageCompleted)
	if state := p.awaitState(nodeName(0), missing, v1alpha1.ImagePhaseFailed); !strings.Contains(state.Message, "not found") {
		t.Errorf("message %q", state.Message)
	}
	image, _ := p.image("v1", registry.Image{})
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "none"}, Spec: corev1.ResourceQuotaSpec{
		Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}}}
	if _, err := bed.Core.CoreV1().ResourceQuotas(p.Namespace).Create(p.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.pull("refused", image, func(spec *v1alpha1.ImagePullJobSpec) { spec.PullPolicy.BackoffLimit = new(int32(0)) })
	p.failed("refused", v1alpha1.ImagePullJobMessageCompleted)
	if state := p.awaitState(nodeName(0), image, v1alpha1.ImagePhaseFailed); !strings.Contains(state.Message, "quota") {
		t.Errorf("message %q", state.Message)
	}
	p.checkPulls(image, 0)
}

// A manager that is killed while a kubelet pulls goes on with the pod that is there.
func TestPullThroughKubeletGoesOn(t *testing.T) {
	testbed.Long(t)
	p := newPuller(t)
	manager := pullThroughKubelets(t)
	image, _ := p.image("v1", registry.Image{})
	release := p.hold(image)
	p.pull("slow", image)
	p.awaitHeld(image, 1)
	before := p.awaitState(nodeName(0), image, v1alpha1.ImagePhasePulling)
	pods := p.Pods.All()
	manager.Kill()
	if err := manager.Start(); err != nil {
		t.Fatal(err)
	}
	p.awaitHeld(image, 1)
	if now := p.Pods.All(); len(pods) != 1 || len(now) != 1 || now[0].UID != pods[0].UID {
		t.Errorf("pods %v, and then %v", pods, now)
	}
	release()
	p.completed("slow")
	if after := p.awaitState(nodeName(0), image, v1alpha1.ImagePhaseSucceeded); !after.StartTime.Equal(before.StartTime) {
		t.Errorf("it began at %v, and then at %v", before.StartTime, after.StartTime)
	}
	p.checkPulls(image, 1)
	p.remove("slow", image)
}

// enforce has the API server refuse pods of a namespace that do not meet a Pod Security Standard.
func enforce(p *puller, level string) {
	p.Helper()
	patch := `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"` + level + `"}}}`
	if _, err := bed.Core.CoreV1().Namespaces().Patch(p.Context(), p.Namespace, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		p.Fatal(err)
	}
}
