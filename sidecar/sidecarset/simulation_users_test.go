// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// edits are what users change about a SidecarSet, beside its containers.
var edits = simulation.ReadEdits("edits")

// mistakes are what only a webhook would refuse.
var mistakes = simulation.ReadMistakes("mistakes")

// act is what users do in a step.
func act(u *simulation.User, r *rand.Rand) {
	switch n := r.IntN(30); {
	case n == 0:
		u.Err(r, mistakes)
	case n < 10:
		u.Edit(simulation.AnyEdit(r, edits))
	case n < 23:
		editContainers(u, func(c *v1alpha1.SidecarContainer) {
			if r.IntN(2) == 0 {
				c.Image = fmt.Sprint(c.Name, ":", []string{"1", "2", "3", "4", "2", "3", "4", "bad", "nopull"}[r.IntN(9)])
			}
			if hot := &c.UpgradeStrategy; hot.HotUpgradeEmptyImage != "" && r.IntN(20) == 0 {
				hot.HotUpgradeEmptyImage = []string{"empty:1", "empty:1", "empty:3", "empty:nopull"}[r.IntN(4)]
			}
		})
	case n < 25:
		editContainers(u, func(c *v1alpha1.SidecarContainer) { // of which running pods cannot get anything
			c.Env = [][]corev1.EnvVar{nil, nil, {{Name: "A", Value: "1"}}}[r.IntN(3)]
		})
	case n == 25:
		editInitContainers(u, func(c *v1alpha1.SidecarContainer) { c.Image = fmt.Sprint(c.Name, ":", 1+r.IntN(2)) })
	case n == 26:
		u.PatchNamespace(simulation.Pick(`{"metadata":{"labels":%v}}`, `{"team":"a"}`, `{"team":"a"}`, `{"team":null}`, `{"control-plane":""}`, `{"control-plane":null}`)(r))
	default:
		actOnPod(u, r)
	}
}

// rareEdits are what users change seldom, beside its containers.
var rareEdits = simulation.ReadEdits("rareEdits")

// actRarely is what users do to a SidecarSet now and then.
func actRarely(u *simulation.User, r *rand.Rand) {
	edit := func(c *v1alpha1.SidecarContainer) { editRarely(c, r) }
	switch revision := u.AnyObject("controllerrevisions", r); r.IntN(4) {
	case 0:
		editContainers(u, edit)
	case 1:
		editInitContainers(u, func(c *v1alpha1.SidecarContainer) {
			for range 3 {
				edit(c)
			}
			if always := corev1.ContainerRestartPolicyAlways; c.ResourcesPolicy != nil {
				c.RestartPolicy = &always
			}
		})
	case 2:
		u.Edit(simulation.AnyEdit(r, rareEdits))
	case 3:
		if revision != nil {
			u.Edit(fmt.Sprintf(`{"spec":{"injectionStrategy":{"revision":{"revisionName":%q,"policy":"Always"}}}}`, revision.GetName()))
		}
	}
}

// editRarely changes fields of a container that are seldom changed. The type of an upgrade stays when it is set.
func editRarely(c *v1alpha1.SidecarContainer, r *rand.Rand) {
	switch r.IntN(10) {
	case 7, 8, 9:
		editField(c, r)
	case 5:
		c.ShareVolumeDevicePolicy = []*v1alpha1.ShareVolumePolicy{nil, {Type: v1alpha1.ShareVolumePolicyEnabled}, {Type: v1alpha1.ShareVolumePolicyDisabled}}[r.IntN(3)]
	case 6:
		c.ResourcesPolicy = anyPolicy(r)
	case 0:
		c.PodInjectPolicy = []v1alpha1.PodInjectPolicyType{"", v1alpha1.BeforeAppContainerType, v1alpha1.AfterAppContainerType}[r.IntN(3)]
	case 1:
		c.ShareVolumePolicy.Type = []v1alpha1.ShareVolumePolicyType{"", v1alpha1.ShareVolumePolicyEnabled, v1alpha1.ShareVolumePolicyDisabled}[r.IntN(3)]
	case 2:
		if c.UpgradeStrategy.UpgradeType == "" {
			c.UpgradeStrategy.UpgradeType = v1alpha1.SidecarContainerColdUpgrade
		}
	case 3:
		if c.UpgradeStrategy.UpgradeType != v1alpha1.SidecarContainerHotUpgrade { // it has no meaning
			c.UpgradeStrategy.HotUpgradeEmptyImage = []string{"", "empty:1"}[r.IntN(2)]
		}
	default:
		from := func(version, path string) *v1alpha1.SourceContainerNameSource {
			return &v1alpha1.SourceContainerNameSource{FieldRef: &v1alpha1.PodFieldSelector{APIVersion: version, FieldPath: path}}
		}
		c.TransferEnv = [][]v1alpha1.TransferEnvVar{nil,
			{{SourceContainerName: "main", EnvName: "A"}, {SourceContainerName: "main", EnvNames: []string{"B", "C"}}},
			{{SourceContainerName: "other", EnvName: "B"}, {SourceContainerName: "main", EnvNames: []string{"C"}}},
			{{EnvName: "A", SourceContainerNameFrom: from("v1", "metadata.labels['app']")}},
			{{EnvName: "A", SourceContainerNameFrom: from("", "metadata.labels['app']")}},
			{{EnvName: "A", SourceContainerNameFrom: from("v1", "metadata.labels['ring']")}}}[r.IntN(6)]
	}
}

// containerFields are fields of Kubernetes that users set, and which running pods cannot get.
var containerFields = []string{
	`{"command":["run"]}`, `{"args":["-v"]}`, `{"workingDir":"/tmp"}`, `{"stdin":true}`, `{"stdin":true,"stdinOnce":true}`, `{"tty":true}`,
	`{"ports":[{"containerPort":80}]}`, `{"env":[{"name":"B","value":"2"}]}`, `{"envFrom":[{"configMapRef":{"name":"more"}}]}`, `{"volumeMounts":[{"name":"shared","mountPath":"/shared"}]}`,
	`{"resources":{"requests":{"cpu":"1m"}}}`, `{"resizePolicy":[{"resourceName":"cpu","restartPolicy":"NotRequired"}]}`, `{"imagePullPolicy":"Always"}`,
	`{"terminationMessagePath":"/dev/log"}`, `{"terminationMessagePolicy":"FallbackToLogsOnError"}`, `{"securityContext":{"privileged":false}}`,
	`{"livenessProbe":{"exec":{"command":["live"]}}}`, `{"readinessProbe":{"exec":{"command":["ready"]}}}`, `{"lifecycle":{"preStop":{"exec":{"command":["stop"]}}}}`,
}

// editField sets a field of a container, and takes back those that were set before at times.
func editField(c *v1alpha1.SidecarContainer, r *rand.Rand) {
	if r.IntN(2) == 0 {
		c.Container = corev1.Container{Name: c.Name, Image: c.Image, Env: c.Env, RestartPolicy: c.RestartPolicy, StartupProbe: c.StartupProbe}
	}
	if err := json.Unmarshal([]byte(containerFields[r.IntN(len(containerFields))]), &c.Container); err != nil {
		panic(err)
	}
}

// anyPolicy computes the resources of a container, or none.
func anyPolicy(r *rand.Rand) *v1alpha1.ResourcesPolicy {
	if r.IntN(3) == 0 {
		return nil
	}
	side := func(memory string) *v1alpha1.ResourceExpr {
		return &v1alpha1.ResourceExpr{CPU: []string{"max(cpu*50%, 50m)", "cpu/2"}[r.IntN(2)], Memory: []string{memory, "memory/2"}[r.IntN(2)]}
	}
	return &v1alpha1.ResourcesPolicy{
		TargetContainersMode:      []v1alpha1.TargetContainersMode{v1alpha1.TargetContainersSum, v1alpha1.TargetContainersMax}[r.IntN(2)],
		TargetContainersNameRegex: []string{".*", "main"}[r.IntN(2)],
		ResourcesExpr:             v1alpha1.ResourcesExpr{Limits: side("64Mi"), Requests: side("memory")},
	}
}

// editContainers changes the containers of the SidecarSet.
func editContainers(u *simulation.User, edit func(*v1alpha1.SidecarContainer)) {
	set := u.Workload().DeepCopyObject().(*v1alpha1.SidecarSet)
	for i := range set.Spec.Containers {
		edit(&set.Spec.Containers[i])
	}
	data, err := json.Marshal(set.Spec.Containers)
	if err != nil {
		panic(err)
	}
	u.Edit(`{"spec":{"containers":` + string(data) + `}}`)
}

// editInitContainers changes the init containers of the SidecarSet.
func editInitContainers(u *simulation.User, edit func(*v1alpha1.SidecarContainer)) {
	set := u.Workload().DeepCopyObject().(*v1alpha1.SidecarSet)
	if len(set.Spec.InitContainers) == 0 {
		return
	}
	for i := range set.Spec.InitContainers {
		edit(&set.Spec.InitContainers[i])
	}
	u.Edit(encoded(map[string]any{"spec": map[string]any{"initContainers": set.Spec.InitContainers}}))
}

// actOnPod is what users do to single pods.
func actOnPod(u *simulation.User, r *rand.Rand) {
	pod := u.AnyPod(r)
	if pod == nil {
		return
	}
	switch r.IntN(6) {
	case 0:
		u.CreateStranger(fmt.Sprint("stranger-", r.IntN(2)))
	case 1:
		u.Quarantine(pod)
	case 2:
		u.PatchPod(pod.Name, fmt.Sprintf(`{"metadata":{"labels":{"ring":%q}}}`, []string{"a", "b"}[r.IntN(2)]))
	case 3:
		u.PatchPod(pod.Name, fmt.Sprintf(`{"metadata":{"annotations":{"seen":"%d"}}}`, r.IntN(100)))
	case 4:
		u.DeletePod(pod.Name, nil)
	case 5:
		key := []string{v1alpha1.SidecarSetHashAnnotation, v1alpha1.SidecarSetInPlaceUpdateStateAnnotation, v1alpha1.SidecarSetHashWithoutImageAnnotation}[r.IntN(3)]
		u.PatchPod(pod.Name, fmt.Sprintf(`{"metadata":{"annotations":{%q:"{"}}}`, key))
	}
}

// push is all that users do in the end. They push images that run. They take back what
// only a webhook would have refused, and what asks for a standstill. Owners of workloads
// push images that run, too. All else is for the controller to overcome.
func push(u *simulation.User) {
	set := u.Workload().DeepCopyObject().(*v1alpha1.SidecarSet)
	for _, mistake := range mistakes {
		after := set.DeepCopy()
		simulation.Merge(after, mistake[0])
		if equality.Semantic.DeepEqual(after, set) {
			u.Edit(mistake[1])
			simulation.Merge(set, mistake[1])
		}
	}
	editContainers(u, func(c *v1alpha1.SidecarContainer) {
		if c.Image = c.Name + ":9"; c.UpgradeStrategy.HotUpgradeEmptyImage == "empty:nopull" {
			c.UpgradeStrategy.HotUpgradeEmptyImage = "empty:1"
		}
	})
	u.Edit(`{"spec":{"updateStrategy":{"type":"RollingUpdate","paused":false,"partition":0}}}`)
}
