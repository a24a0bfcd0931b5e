// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
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

// What users change about containers: fields of SidecarSets, and fields of Kubernetes, which running pods cannot get.
var (
	containerEdits  = simulation.ReadEdits("containerEdits")
	containerFields = simulation.ReadEdits("containerFields")
)

// editRarely changes fields of a container that are seldom changed. How one is upgraded hot stays. Fields of Kubernetes that were set before are
// taken back at times.
func editRarely(c *v1alpha1.SidecarContainer, r *rand.Rand) {
	upgrade, edits := c.UpgradeStrategy, containerEdits
	if r.IntN(10) < 3 {
		edits = containerFields
		if r.IntN(2) == 0 {
			c.Container = corev1.Container{Name: c.Name, Image: c.Image, Env: c.Env, RestartPolicy: c.RestartPolicy, StartupProbe: c.StartupProbe}
		}
	}
	data, err := json.Marshal(c)
	if err == nil {
		data, err = jsonpatch.MergePatch(data, []byte(simulation.AnyEdit(r, edits)))
	}
	*c = v1alpha1.SidecarContainer{}
	if err = errors.Join(err, json.Unmarshal(data, c)); err != nil {
		panic(err)
	}
	if upgrade.UpgradeType == v1alpha1.SidecarContainerHotUpgrade {
		c.UpgradeStrategy = upgrade
	}
}

// editContainers changes the containers of the SidecarSet.
func editContainers(u *simulation.User, edit func(*v1alpha1.SidecarContainer)) {
	editEach(u, "containers", u.Workload().DeepCopyObject().(*v1alpha1.SidecarSet).Spec.Containers, edit)
}

// editInitContainers changes the init containers of the SidecarSet, if it has any.
func editInitContainers(u *simulation.User, edit func(*v1alpha1.SidecarContainer)) {
	if all := u.Workload().DeepCopyObject().(*v1alpha1.SidecarSet).Spec.InitContainers; len(all) > 0 {
		editEach(u, "initContainers", all, edit)
	}
}

func editEach(u *simulation.User, field string, all []v1alpha1.SidecarContainer, edit func(*v1alpha1.SidecarContainer)) {
	for i := range all {
		edit(&all[i])
	}
	u.Edit(encoded(map[string]any{"spec": map[string]any{field: all}}))
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
