package cloneset

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TemplateChecker knows all rules of a pod template.
type TemplateChecker interface {
	// CheckTemplate returns nil for a valid template. An invalid one is an
	// error of the API server (Invalid, 422) whose causes name fields below
	// "template". Any other error means that it could not be checked.
	CheckTemplate(ctx context.Context, namespace string, template *corev1.PodTemplateSpec) error
}

// DryRun makes a TemplateChecker of the API server: it asks it to create a
// core/v1 PodTemplate without storing it. So templates are judged by the very
// release that will have to accept the pods. It needs the permission to create
// podtemplates; give it the CoreV1 of a clientset.
func DryRun(client typedcorev1.PodTemplatesGetter) TemplateChecker {
	return dryRun{client}
}

type dryRun struct {
	client typedcorev1.PodTemplatesGetter
}

func (d dryRun) CheckTemplate(ctx context.Context, namespace string, template *corev1.PodTemplateSpec) error {
	_, err := d.client.PodTemplates(namespace).Create(ctx, &corev1.PodTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "template-check-"},
		Template:   *template,
	}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// templateToCheck returns the template as pods get it: with the claims as
// volumes. The map leads from the index of such a volume to that of its claim
// template.
func templateToCheck(spec *v1alpha1.CloneSetSpec) (*corev1.PodTemplateSpec, map[int]int) {
	template := spec.Template
	template.Spec.Volumes = slices.Clone(template.Spec.Volumes)
	claims := make(map[int]int, len(spec.VolumeClaimTemplates))
	for i := range spec.VolumeClaimTemplates {
		name := spec.VolumeClaimTemplates[i].Name
		volume := corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}
		at := slices.IndexFunc(template.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == name })
		if at < 0 {
			at = len(template.Spec.Volumes)
			template.Spec.Volumes = append(template.Spec.Volumes, volume)
		}
		template.Spec.Volumes[at] = volume
		claims[at] = i
	}
	return &template, claims
}

// templateErrors turns the API server's verdict on a template into errors of
// the CloneSet. It returns false for an error that is no verdict.
func templateErrors(err error, claims map[int]int) (field.ErrorList, bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusUnprocessableEntity {
		return nil, false
	}
	s := status.Status()
	if s.Details == nil || len(s.Details.Causes) == 0 {
		return field.ErrorList{templateError(metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: "template", Message: s.Message}, claims)}, true
	}
	var errs field.ErrorList
	for _, cause := range s.Details.Causes {
		errs = append(errs, templateError(cause, claims))
	}
	return errs, true
}

// templateError is a cause with the path that it has in a CloneSet. The
// message of a cause starts with its type and value, so they are not said again.
func templateError(cause metav1.StatusCause, claims map[int]int) *field.Error {
	kind := field.ErrorType(cause.Type)
	detail, ok := strings.CutPrefix(cause.Message, kind.String())
	if !ok {
		kind = field.ErrorTypeInvalid // A cause that is not made of a field error.
	}
	return &field.Error{
		Type: kind, Field: templateField(cause.Field, claims),
		BadValue: field.OmitValueType{}, Detail: strings.TrimPrefix(detail, ": "),
	}
}

// templateField leads from a field of a PodTemplate to that of a CloneSet.
func templateField(name string, claims map[int]int) string {
	if name != "template" && !strings.HasPrefix(name, "template.") {
		return "spec.template" // The rest of the PodTemplate is ours, not the user's.
	}
	if rest, ok := strings.CutPrefix(name, "template.spec.volumes["); ok {
		number, below, _ := strings.Cut(rest, "]")
		if at, err := strconv.Atoi(number); err == nil {
			if claim, ok := claims[at]; ok {
				return "spec.volumeClaimTemplates[" + strconv.Itoa(claim) + "]" + claimField(below)
			}
		}
	}
	return "spec." + name
}

// claimField leads from a field of a volume to that of the claim template that
// the volume stands for.
func claimField(below string) string {
	if below == ".name" || strings.HasPrefix(below, ".persistentVolumeClaim") {
		return ".metadata.name"
	}
	return ""
}
