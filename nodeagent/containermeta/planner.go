// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/inplace"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
)

// sidecarSetHashAnnotation is on pods that containers were injected into.
const sidecarSetHashAnnotation = "kruise.io/sidecarset-hash"

// ended tells whether a pod has finished: no update of it waits for a report any more (CM-2).
func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// concerns tells whether a pod is one to report on (CM-2).
func concerns(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || ended(pod) || len(pod.Status.ContainerStatuses) == 0 {
		return false
	}
	if _, injected := pod.Annotations[sidecarSetHashAnnotation]; injected {
		return true
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner != nil && strings.HasPrefix(owner.APIVersion, lifecyclev1alpha1.GroupName+"/")
}

// reported returns what the annotation says; nil if there is none, or none
// that can be read. Such a one is replaced.
func reported(pod *corev1.Pod) *inplacev1alpha1.RuntimeContainersMeta {
	value, found := pod.Annotations[inplacev1alpha1.RuntimeContainersMetaAnnotation]
	meta := &inplacev1alpha1.RuntimeContainersMeta{}
	if !found || json.Unmarshal([]byte(value), meta) != nil {
		return nil
	}
	return meta
}

// entry returns what is reported of a container, nil for nothing.
func entry(meta *inplacev1alpha1.RuntimeContainersMeta, name string) *inplacev1alpha1.RuntimeContainer {
	if meta == nil {
		return nil
	}
	for i := range meta.Containers {
		if meta.Containers[i].Name == name {
			return &meta.Containers[i]
		}
	}
	return nil
}

func specOf(pod *corev1.Pod, name string) *corev1.Container {
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == name {
			return &pod.Spec.Containers[i]
		}
	}
	return nil
}

// reportDue tells by the pod alone whether there may be something to report. That is a
// container that the status has and the report does not, or not in full (CM-2).
func reportDue(pod *corev1.Pod, features Features) bool {
	if !concerns(pod) {
		return false
	}
	meta := reported(pod)
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		if status.ContainerID == "" || specOf(pod, status.Name) == nil {
			continue
		}
		e := entry(meta, status.Name)
		if e == nil || e.ContainerID != status.ContainerID ||
			!features.NoEnvFromMetadata && e.Hashes.ExtractedEnvFromMetadataHash == 0 {
			return true
		}
	}
	return meta != nil && len(meta.Containers) > len(pod.Status.ContainerStatuses)
}

// planner makes one plan.
type planner struct {
	*Snapshot
	Plan
	newest map[string]*criv1.Container
}

func (p *planner) plan() {
	switch {
	case p.Pod.DeletionTimestamp != nil:
		p.wait("", rulePod, "the pod is being deleted")
		return
	case ended(p.Pod):
		p.wait("", rulePod, "the pod has finished")
		return
	case !concerns(p.Pod):
		p.wait("", rulePod, "the pod has no containers yet, or is none whose owner is of the group "+lifecyclev1alpha1.GroupName+" and has no injected sidecars")
		return
	}
	runtime, ok := runtimeOf(p.Pod)
	switch {
	case !ok:
		p.wait("", rulePod, "no container has been created yet")
		return
	case runtime != p.Runtime:
		p.wait("", ruleRuntime, fmt.Sprintf("the pod runs in %s, and this node agent is connected to %s", runtime, p.Runtime))
		return
	}
	p.newest = nodeagent.Newest(p.Containers)
	now := p.report()
	p.restart(now)
	if !equal(reported(p.Pod), now) {
		p.Report = now
	}
}

// runtimeOf returns the name of the runtime in the first ID of a container.
func runtimeOf(pod *corev1.Pod) (string, bool) {
	for i := range pod.Status.ContainerStatuses {
		if runtime, _, ok := nodeagent.SplitContainerID(pod.Status.ContainerStatuses[i].ContainerID); ok {
			return runtime, true
		}
	}
	return "", false
}

// report returns what to report, one entry for each container status that has a
// container of the runtime, in the order of the statuses (CM-3).
func (p *planner) report() *inplacev1alpha1.RuntimeContainersMeta {
	before := reported(p.Pod)
	now := &inplacev1alpha1.RuntimeContainersMeta{Containers: []inplacev1alpha1.RuntimeContainer{}}
	for i := range p.Pod.Status.ContainerStatuses {
		name := p.Pod.Status.ContainerStatuses[i].Name
		spec, c := specOf(p.Pod, name), p.newest[name]
		if spec == nil || c == nil {
			p.wait(name, ruleNotThere, "the pod's spec or the runtime has no container of that name")
			continue
		}
		now.Containers = append(now.Containers, p.entry(entry(before, name), spec, c))
	}
	return now
}

// entry returns what to report of a container. What has been reported of it
// stays unchanged, but for an environment that was not known (CM-3).
func (p *planner) entry(before *inplacev1alpha1.RuntimeContainer, spec *corev1.Container, c *criv1.Container) inplacev1alpha1.RuntimeContainer {
	id := nodeagent.ContainerID(p.Runtime, c.GetId())
	var e inplacev1alpha1.RuntimeContainer
	if before != nil && before.ContainerID == id {
		e = *before
	} else {
		e = inplacev1alpha1.RuntimeContainer{Name: spec.Name, ContainerID: id}
		var err error
		if e.RestartCount, err = nodeagent.RestartCount(c); err != nil {
			p.wait(spec.Name, ruleUnreadable, err.Error())
		}
		if e.Hashes.PlainHash, err = nodeagent.KubeletHash(c); err != nil {
			p.wait(spec.Name, ruleUnreadable, err.Error())
		}
	}
	if !p.Features.NoEnvFromMetadata && e.Hashes.ExtractedEnvFromMetadataHash == 0 {
		e.Hashes.ExtractedEnvFromMetadataHash = p.envHash(spec, c)
	}
	return e
}

// envHash returns the hash of the environment that a container was created with, as far
// as it comes from single labels and annotations. It is 0 if it is not known, with the
// reason.
func (p *planner) envHash(spec *corev1.Container, c *criv1.Container) uint64 {
	expected := inplace.ExpectedEnv(p.Pod, spec)
	env := Environment{Values: map[string]string{}}
	if len(expected) > 0 { // else there is nothing to read
		known := false
		env, known = p.Environments[c.GetId()]
		if !known || env.Err != nil && !p.Now.Before(env.RetryAt) {
			p.Read = append(p.Read, c.GetId())
			p.wait(spec.Name, ruleEnvironment, "its environment has to be read")
			return 0
		}
		if env.Err != nil {
			p.wait(spec.Name, ruleEnvironment, fmt.Sprintf("its environment is not known, try %d failed: %v", env.Failures, env.Err)).Reason.Observed = int32(env.Failures)
			p.lookAgain(env.RetryAt.Sub(p.Now))
			return 0
		}
	}
	hash, err := inplace.EnvHash(actual(p.Pod, spec, expected, env.Values))
	if err != nil {
		p.wait(spec.Name, ruleUnreadable, err.Error())
	}
	return hash
}

// actual returns the variables that are expected of a container with the values
// that it has. A variable of which a later one of the same name takes the place
// cannot be seen, and counts as right.
func actual(pod *corev1.Pod, spec *corev1.Container, expected []inplace.EnvValue, values map[string]string) []inplace.EnvValue {
	out := make([]inplace.EnvValue, len(expected))
	seen := map[string]bool{}
	for i := len(expected) - 1; i >= 0; i-- {
		out[i] = expected[i]
		if name := expected[i].Name; !seen[name] && fromMetadata(pod, spec, name) {
			out[i].Value = values[name]
		}
		seen[expected[i].Name] = true
	}
	return out
}

// fromMetadata tells whether the variable of a name that counts, the last one,
// comes from a label or an annotation.
func fromMetadata(pod *corev1.Pod, spec *corev1.Container, name string) bool {
	for i := len(spec.Env) - 1; i >= 0; i-- {
		if spec.Env[i].Name == name {
			return len(inplace.ExpectedEnv(pod, &corev1.Container{Env: spec.Env[i : i+1]})) > 0
		}
	}
	return false
}

// equal tells whether two reports say the same. No report says the same as one
// of no container.
func equal(a, b *inplacev1alpha1.RuntimeContainersMeta) bool {
	if a == nil {
		a = &inplacev1alpha1.RuntimeContainersMeta{}
	}
	return len(a.Containers) == 0 && len(b.Containers) == 0 || reflect.DeepEqual(a.Containers, b.Containers)
}
