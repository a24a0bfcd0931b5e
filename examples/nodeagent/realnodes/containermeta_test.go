package realnodes

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/cluster"
	"github.com/podwright/podwright/examples/cluster/registry"
	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/v1alpha1"
)

// newPod creates a pod of a CloneSet whose container main has the variable
// VERSION from an annotation, and waits until the kubelet runs it.
func newPod(t *testing.T, name string, image registry.Image) *corev1.Pod {
	t.Helper()
	if _, err := shared.Images().Add("registry.test/"+name+":v1", image); err != nil {
		t.Fatal(err)
	}
	pod, err := client.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Annotations: map[string]string{"version": "1"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web", UID: "web", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{
			NodeName: shared.RealNodes()[0].Name, TerminationGracePeriodSeconds: new(int64(5)),
			ReadinessGates: []corev1.PodReadinessGate{{ConditionType: v1alpha1.InPlaceUpdateReady}},
			Containers: []corev1.Container{{Name: "main", Image: "registry.test/" + name + ":v1", Env: []corev1.EnvVar{{
				Name: "VERSION", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['version']"}},
			}}}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.CoreV1().Pods("default").Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	})
	return pod
}

// checkHashes wants hashes in the report that a manager computes too: of the
// environment, and of the spec as this kubelet hashes it.
func checkHashes(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	c := &pod.Spec.Containers[0]
	env, err := inplace.EnvHash(inplace.ExpectedEnv(pod, c))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := inplace.PlainHashes(c)
	if err != nil {
		t.Fatal(err)
	}
	got := report(pod).Hashes
	if got.ExtractedEnvFromMetadataHash != env || got.PlainHash != plain[0] && got.PlainHash != plain[1] {
		t.Errorf("reported %+v, want environment %d, spec one of %v", got, env, plain)
	}
}

// A container is reported, and restarted with the new value of an annotation,
// by a real kubelet; with an image that has no command but one to sleep, too.
func TestEnvironmentIsUpdated(t *testing.T) {
	runAgent(t)
	for name, image := range map[string]registry.Image{"shell": {}, "bare": {Programs: []string{"sleep"}}} {
		t.Run(name, func(t *testing.T) {
			pod := await(t, newPod(t, "env-"+name, image), "reported", reported)
			checkHashes(t, pod)
			if got := report(pod).RestartCount; got != 0 {
				t.Errorf("%d restarts of a new container", got)
			}
			update(t, pod, "2\n two ")
			pod = await(t, pod, "updated", complete)
			checkHashes(t, pod)
			if got := report(pod).RestartCount; got != 1 || pod.Status.ContainerStatuses[0].RestartCount != 1 {
				t.Errorf("%d restarts reported, %d by the kubelet, want 1", got, pod.Status.ContainerStatuses[0].RestartCount)
			}
		})
	}
}

// The agent is away while a container is updated, and containerd is restarted
// under the next one.
func TestAgentAndRuntimeAreRestarted(t *testing.T) {
	stop := runAgent(t)
	pod := await(t, newPod(t, "restarts", registry.Image{}), "reported", reported)
	stop()
	update(t, pod, "2")
	runAgent(t)
	pod = await(t, pod, "updated by the next agent", complete)
	node := shared.RealNodes()[0]
	if err := node.Kill(cluster.Containerd); err != nil {
		t.Fatal(err)
	}
	update(t, pod, "3")
	if err := node.Restart(t.Context(), cluster.Containerd); err != nil {
		t.Fatal(err)
	}
	pod = await(t, pod, "updated after containerd is back", complete)
	checkHashes(t, pod)
}
