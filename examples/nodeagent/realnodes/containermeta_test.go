// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/v1alpha1"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// versioned returns a CloneSet of one pod whose container main has the variable
// VERSION from an annotation; the container side has it not.
func versioned(image string, edits ...func(*corev1.PodTemplateSpec)) *workloadsv1alpha1.CloneSet {
	set := cloneSet("web", image, 1)
	template := &set.Spec.Template
	template.Annotations = map[string]string{"version": "1"}
	template.Spec.Containers[0].Env = []corev1.EnvVar{{
		Name: "VERSION", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['version']"}},
	}}
	template.Spec.Containers = append(template.Spec.Containers, corev1.Container{Name: "side", Image: image})
	for _, edit := range edits {
		edit(template)
	}
	return set
}

// setVersion changes the annotation in the template.
func (s *scene) setVersion(version string) {
	s.Helper()
	annotations, err := json.Marshal(map[string]string{"version": version})
	if err != nil {
		s.Fatal(err)
	}
	s.edit("web", fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":%s}}}}`, annotations))
}

// awaitVersion waits until the pod is updated to a version, and returns it.
func (s *scene) awaitVersion(pod *corev1.Pod, version string) *corev1.Pod {
	s.Helper()
	return s.AwaitPod(pod.Name, "updated to version "+version, func(pod *corev1.Pod) string {
		done, why, err := inplace.Complete(pod)
		if pod.Annotations["version"] != version || !done || err != nil || !podstate.InService(pod) {
			return fmt.Sprintf("%s, version %q, complete %v %s, error %v, %s", podstate.Describe(pod, false), pod.Annotations["version"], done, why, err, pod.Annotations[v1alpha1.RuntimeContainersMetaAnnotation])
		}
		return ""
	})
}

// version reads the variable inside of a container.
func (s *scene) version(pod *corev1.Pod, container string) string {
	s.Helper()
	return s.exec(pod, container, "sh", "-c", `printf %s "$VERSION"`)
}

// report returns what the agent says of a container.
func report(pod *corev1.Pod, container string) v1alpha1.RuntimeContainer {
	var meta v1alpha1.RuntimeContainersMeta
	_ = json.Unmarshal([]byte(pod.Annotations[v1alpha1.RuntimeContainersMetaAnnotation]), &meta)
	for _, c := range meta.Containers {
		if c.Name == container {
			return c
		}
	}
	return v1alpha1.RuntimeContainer{}
}

// reported waits until the reports are about the containers in the status, in
// full, and returns the pod.
func (s *scene) reported(pod *corev1.Pod) *corev1.Pod {
	s.Helper()
	return s.AwaitPod(pod.Name, "reported", func(pod *corev1.Pod) string {
		for _, c := range pod.Spec.Containers {
			r := report(pod, c.Name)
			if r.ContainerID == "" || r.ContainerID != podstate.ContainerStatus(pod, c.Name).ContainerID || c.Env != nil && r.Hashes.ExtractedEnvFromMetadataHash == 0 {
				return fmt.Sprintf("%s, reported %+v", podstate.Describe(pod, false), r)
			}
		}
		return ""
	})
}

// checkReport wants a number of restarts, and hashes that a manager computes too:
// of the environment, and of the spec as this kubelet hashes it.
func (s *scene) checkReport(pod *corev1.Pod, restarts int32) {
	s.Helper()
	c := &pod.Spec.Containers[0]
	env, err := inplace.EnvHash(inplace.ExpectedEnv(pod, c))
	if err != nil {
		s.Fatal(err)
	}
	plain, err := inplace.PlainHashes(c)
	if err != nil {
		s.Fatal(err)
	}
	got, real := report(pod, c.Name), podstate.ContainerStatus(pod, c.Name)
	if got.Hashes.ExtractedEnvFromMetadataHash != env || got.Hashes.PlainHash != plain[0] && got.Hashes.PlainHash != plain[1] {
		s.Errorf("reported %+v, want environment %d, spec one of %v", got, env, plain)
	}
	if got.RestartCount != restarts || real.RestartCount != restarts {
		s.Errorf("%d restarts reported, %d by the kubelet, want %d", got.RestartCount, real.RestartCount, restarts)
	}
	if side := podstate.ContainerStatus(pod, "side"); side.RestartCount != 0 {
		s.Errorf("container side, which has no such variable, was restarted: %+v", side)
	}
}

// A container is reported, and restarted with the new value of an annotation,
// which is read inside of it; the container beside it goes on.
func TestEnvironmentIsUpdated(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	image, _ := s.image("v1", registry.Image{})
	pod := s.reported(s.run(versioned(image))[0])
	s.checkReport(pod, 0)
	const version = "2\n  two "
	s.setVersion(version)
	pod = s.awaitVersion(pod, version)
	s.checkReport(pod, 1)
	if got := s.version(pod, "main"); got != version {
		t.Errorf("inside the container VERSION=%q, want %q", got, version)
	}
}

// An image need not have more than the program that it runs.
func TestEnvironmentOfBareImage(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newScene(t)
	image, _ := s.image("v1", registry.Image{Programs: []string{"sleep"}})
	pod := s.reported(s.run(versioned(image))[0])
	s.setVersion("2")
	s.checkReport(s.awaitVersion(pod, "2"), 1)
}

// Containers are updated in batches by their priority, each when the one before
// it is ready again.
func TestEnvironmentByPriority(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newScene(t)
	image, _ := s.image("v1", registry.Image{})
	pod := s.reported(s.run(versioned(image, func(template *corev1.PodTemplateSpec) {
		template.Annotations["second"] = "1"
		last := *template.Spec.Containers[0].DeepCopy()
		last.Name, last.Env[0].ValueFrom.FieldRef.FieldPath = "last", "metadata.annotations['second']"
		main := &template.Spec.Containers[0]
		main.Env = append(main.Env, corev1.EnvVar{Name: lifecyclev1alpha1.ContainerPriorityEnv, Value: "5"})
		template.Spec.Containers = append(template.Spec.Containers, last)
	}))[0])
	s.edit("web", `{"spec":{"template":{"metadata":{"annotations":{"version":"2","second":"2"}}}}}`)
	pod = s.awaitVersion(pod, "2")
	s.checkReport(pod, 1)
	_, back := s.restarted(pod, "main", 1, 0)
	if ended, _ := s.restarted(pod, "last", 1, 0); ended.Before(back) {
		t.Errorf("container last ended at %s, before main was back at %s", ended, back)
	}
	for _, container := range []string{"main", "last"} {
		if got := s.version(pod, container); got != "2" {
			t.Errorf("inside the container %s VERSION=%q, want 2", container, got)
		}
	}
}

// The agent is killed while containers are updated, and containerd is restarted
// under the next one.
func TestAgentAndRuntimeAreRestarted(t *testing.T) {
	testbed.Long(t)
	s := newScene(t)
	image, _ := s.image("v1", registry.Image{})
	pod := s.reported(s.run(versioned(image))[0])
	restartAgent(t, agentOf(pod), func() { s.setVersion("2") })
	pod = s.awaitVersion(pod, "2")
	s.checkReport(pod, 1)
	restart(t, node(pod), cluster.Containerd, func() { s.setVersion("3") })
	pod = s.awaitVersion(pod, "3")
	s.checkReport(pod, 2)
	if got := s.version(pod, "main"); got != "3" {
		t.Errorf("inside the container VERSION=%q, want 3", got)
	}
}
