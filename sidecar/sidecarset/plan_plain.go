// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// plainUpdates is what most updates have in common. Their pods have no records of updates, and no container is hot. They need
// no maps of their own, and no encoding/json.
type plainUpdates struct {
	sidecars []*sidecar        // by name; empty if no update is plain
	begins   []byte            // what a record begins with
	images   map[string]string // the patches of pods in which all images are replaced share it
}

// replaced is a container whose image is replaced, and what it ran before.
type replaced struct{ name, imageID, containerID, image string }

// readPlain finds out what plain updates have in common.
func (p *planner) readPlain() {
	p.plain.images = make(map[string]string, len(p.sidecars))
	for i := range p.sidecars {
		s := &p.sidecars[i]
		if s.hot || !podstate.IsPlain(s.name) {
			p.plain.sidecars = nil
			return
		}
		p.plain.sidecars, p.plain.images[s.name] = append(p.plain.sidecars, s), s.image
	}
	slices.SortFunc(p.plain.sidecars, func(a, b *sidecar) int { return cmp.Compare(a.name, b.name) })
	data := podstate.AppendText([]byte{'{'}, p.Set.Name) // names of objects are plain, and so are hashes
	data = podstate.AppendText(append(data, `:{"revision":`...), p.hashes.Containers)
	data = podstate.AppendTime(append(data, `,"updateTimestamp":`...), metav1.NewTime(p.Now))
	p.plain.begins = append(data, `,"lastContainerStatuses":{`...)
}

// replacePlainly does what upgrade and record do, if the update of the pod is a plain one. Otherwise it does nothing, and
// returns false. (SCS-11, SCS-13)
func (c *change) replacePlainly() bool {
	plain, pod := &c.p.plain, c.pod.Pod
	if len(plain.sidecars) == 0 || pod.Annotations[v1alpha1.SidecarSetInPlaceUpdateStateAnnotation] != "" {
		return false
	}
	var few [4]replaced // most have room in it
	list := few[:0]
	for _, s := range plain.sidecars {
		has, status := podstate.Lasting(pod, s.name), podstate.LastingStatus(pod, s.name)
		switch {
		case has == nil || has.Image == s.image || c.p.stands(c.pod, s):
			continue
		case status == nil || !podstate.IsPlain(status.ImageID, status.ContainerID, has.Image):
			return false
		}
		list = append(list, replaced{s.name, status.ImageID, status.ContainerID, has.Image})
	}
	if len(list) == 0 {
		return true
	}
	if c.Images, c.Throughout = plain.images, true; len(list) < len(plain.sidecars) {
		c.Images = make(map[string]string, len(list))
		for i := range list {
			c.Images[list[i].name] = plain.images[list[i].name]
		}
	}
	var room [768]byte // most records have room in it
	c.SetAnnotation(v1alpha1.SidecarSetInPlaceUpdateStateAnnotation, string(plain.append(room[:0], list, c.since)))
	return true
}

// append appends the record of a plain update, byte for byte as encoding/json writes it.
func (plain *plainUpdates) append(data []byte, list []replaced, since *metav1.Time) []byte {
	data = append(data, plain.begins...)
	for i := range list {
		data = append(podstate.AppendText(comma(data, i), list[i].name), ":{"...)
		if id := list[i].imageID; id != "" {
			data = podstate.AppendText(append(data, `"imageID":`...), id)
		}
		data = append(data, '}')
	}
	data = append(data, `},"lastContainers":{`...)
	for i := range list {
		data = append(podstate.AppendText(comma(data, i), list[i].name), ":{"...)
		if id := list[i].containerID; id != "" {
			data = append(podstate.AppendText(append(data, `"containerID":`...), id), ',')
		}
		data = append(podstate.AppendText(append(data, `"images":[`...), list[i].image), "]}"...)
	}
	data = append(data, '}')
	if since != nil {
		data = podstate.AppendTime(append(data, `,"notReadySince":`...), *since)
	}
	return append(data, "}}"...)
}

// comma appends a comma unless nothing stands before it.
func comma(data []byte, before int) []byte {
	if before == 0 {
		return data
	}
	return append(data, ',')
}
