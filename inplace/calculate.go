// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/podwright/podwright/inplace/revision"
)

// CalculateOptions tunes Calculate and Compare. Its zero value is what the
// controllers do by default.
type CalculateOptions struct {
	// NoEnvFromMetadata changes labels and annotations without restarts.
	// Default false: containers restart when a label or annotation changes that
	// their environment refers to. That needs the node agent, which restarts
	// them and reports it; without the agent such an update never completes.
	NoEnvFromMetadata bool
	// Resize changes cpu and memory of containers in place, by the subresource resize of
	// pods. Default false: the pod is recreated for it. (IP-35)
	Resize bool
	// SameAnnotation is the key of an annotation of revisions that stands for what no pod takes in place. If both
	// revisions have it, with different values, the pod is recreated. Default "": none is compared. (IP-42)
	SameAnnotation string
}

// Calculate compares the revision that a pod runs with the one it should run.
// It returns the update if a running pod can take it, and otherwise nil and
// the reasons why not, at least one (IP-1 to IP-10). Two revisions with the
// same template give an update that changes nothing but the recorded revision.
//
// A nil from, for a pod whose revision no longer exists, is an obstacle. The
// error names the revision that cannot be read.
func Calculate(from, to *appsv1.ControllerRevision, o CalculateOptions) (*Update, []Obstacle, error) {
	if to == nil {
		return nil, nil, errors.New("an in-place update needs the revision to update to, got nil")
	}
	if from == nil {
		return nil, []Obstacle{{Reason: "the revision that the pod runs does not exist any more, so it is not known what has changed"}}, nil
	}
	before, err := template(from)
	if err != nil {
		return nil, nil, err
	}
	after, err := template(to)
	if err != nil {
		return nil, nil, err
	}
	if was, is, differ := o.annotated(from, to); differ {
		return nil, []Obstacle{{Reason: fmt.Sprintf("annotation %s of the revisions differs: %q, and now %q", o.SameAnnotation, was, is)}}, nil
	}
	u, obstacles, err := calculate(before, after, o)
	if err != nil {
		return nil, nil, fmt.Errorf("compare ControllerRevisions %s and %s in namespace %s: %w", from.Name, to.Name, to.Namespace, err)
	}
	if u != nil {
		u.Revision = to.Name
	}
	return u, obstacles, nil
}

// annotated returns the values of SameAnnotation, and whether two revisions have it and differ in it.
func (o *CalculateOptions) annotated(from, to *appsv1.ControllerRevision) (was, is string, differ bool) {
	was, before := from.Annotations[o.SameAnnotation]
	is, after := to.Annotations[o.SameAnnotation]
	return was, is, before && after && was != is
}

func template(r *appsv1.ControllerRevision) (*corev1.PodTemplateSpec, error) {
	t, err := revision.Template(r.Data.Raw)
	if err != nil {
		return nil, fmt.Errorf("ControllerRevision %s/%s: %w", r.Namespace, r.Name, err)
	}
	return t, nil
}

func calculate(from, to *corev1.PodTemplateSpec, o CalculateOptions) (*Update, []Obstacle, error) {
	images := imageChanges(&from.Spec, &to.Spec)
	u := &Update{Images: images}
	var obstacles []Obstacle
	rest := from
	if o.Resize {
		rest, u.Resources, obstacles = resize(from, to)
	}
	if !sameButImages(&rest.Spec, &to.Spec, images) {
		others, err := findObstacles(rest, to, o)
		if err != nil {
			return nil, nil, err
		}
		obstacles = append(obstacles, others...)
	}
	if len(obstacles) > 0 {
		return nil, obstacles, nil
	}
	if err := u.addMetadata(from, to, o); err != nil {
		return nil, nil, err
	}
	return u, nil, nil
}

// imageChanges returns the new images of the containers that have an image
// before and after (IP-3, IP-5). Containers are paired by index.
func imageChanges(from, to *corev1.PodSpec) map[string]string {
	images := map[string]string{}
	for i := range min(len(from.Containers), len(to.Containers)) {
		a, b := &from.Containers[i], &to.Containers[i]
		if a.Image != b.Image && a.Image != "" && b.Image != "" {
			images[a.Name] = b.Image
		}
	}
	return images
}

// sameButImages tells whether the two specs mean the same once the images are
// replaced. It settles the question for almost every update, and cannot be
// misled by two notations of one value.
func sameButImages(from, to *corev1.PodSpec, images map[string]string) bool {
	spec := *from
	spec.Containers = make([]corev1.Container, len(from.Containers))
	copy(spec.Containers, from.Containers)
	for i := range spec.Containers {
		if image, ok := images[spec.Containers[i].Name]; ok {
			spec.Containers[i].Image = image
		}
	}
	return equality.Semantic.DeepEqual(&spec, to)
}

// findObstacles names what differs beside images (IP-2, IP-3).
func findObstacles(from, to *corev1.PodTemplateSpec, options CalculateOptions) ([]Obstacle, error) {
	before, err := specTree(from)
	if err != nil {
		return nil, err
	}
	after, err := specTree(to)
	if err != nil {
		return nil, err
	}
	var obstacles []Obstacle
	for _, op := range diff(nil, "/spec", before, after) {
		index, field, ok := containerPath(op.path)
		if ok && op.op == opReplace && field == "image" {
			continue
		}
		o := Obstacle{Op: op.op, Path: op.path, Reason: reason(op, field, ok, options)}
		if ok && index < len(from.Spec.Containers) {
			o.Container = from.Spec.Containers[index].Name
		}
		obstacles = append(obstacles, o)
	}
	return obstacles, nil
}

// specTree returns the spec as decoded JSON, in the notation of revision data.
func specTree(t *corev1.PodTemplateSpec) (any, error) {
	data, err := revision.Data(t)
	if err != nil {
		return nil, err
	}
	var document struct {
		Spec struct {
			Template struct {
				Spec any `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("decode revision data: %w", err)
	}
	return document.Spec.Template.Spec, nil
}

// containerPath splits /spec/containers/<index>/<field>; field is empty for
// the container itself.
func containerPath(path string) (index int, field string, ok bool) {
	rest, ok := strings.CutPrefix(path, "/spec/containers/")
	if !ok {
		return 0, "", false
	}
	number, field, _ := strings.Cut(rest, "/")
	index, err := strconv.Atoi(number)
	return index, field, err == nil
}

func reason(op operation, field string, inContainer bool, o CalculateOptions) string {
	switch {
	case inContainer && field == "" && op.op == opAdd:
		return "a container cannot be added to a running pod"
	case inContainer && field == "":
		return "a container cannot be removed from a running pod"
	case inContainer && field == "name":
		return "containers of a running pod cannot be renamed or reordered"
	case inContainer && o.Resize:
		return "of a running container only the image, cpu and memory can be changed"
	case inContainer:
		return "of a running container only the image can be replaced"
	case strings.HasPrefix(op.path, "/spec/initContainers"):
		return "init containers run before the others, when the pod is created"
	case o.Resize:
		return "of a running pod only container images, cpu and memory of containers, labels, annotations and finalizers can be changed"
	default:
		return "of a running pod only container images, labels, annotations and finalizers can be changed"
	}
}
