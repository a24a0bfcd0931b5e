// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// ValidateCreate says what is wrong with a new marker: nothing for none. (PPM-1.2 to PPM-1.6)
func ValidateCreate(m *v1alpha1.PodProbeMarker) field.ErrorList {
	path := field.NewPath("spec")
	errs := append(validateSelector(m.Spec.Selector, path.Child("selector")), validateProbes(m.Spec.Probes, path.Child("probes"))...)
	sizes, tooLarge := m.ProbeSizes()
	for i, why := range tooLarge {
		if why != "" {
			errs = append(errs, field.Invalid(path.Child("probes").Index(i).Child("probe"), fmt.Sprintf("%d bytes", sizes[i]), why))
		}
	}
	return errs
}

// ValidateUpdate says what is wrong with a changed marker. What has not changed is not judged again: a finalizer can be
// removed from a marker that was made before the rules. (PPM-1.2)
func ValidateUpdate(m, old *v1alpha1.PodProbeMarker) field.ErrorList {
	if equality.Semantic.DeepEqual(&m.Spec, &old.Spec) {
		return nil
	}
	errs := ValidateCreate(m)
	if !equality.Semantic.DeepEqual(m.Spec.Selector, old.Spec.Selector) {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "selector"), "cannot be changed: create another PodProbeMarker"))
	}
	return errs
}

func validateSelector(selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	if selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		return field.ErrorList{field.Required(path, "it says which pods to probe, an empty one would be all of the namespace")}
	}
	return metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path)
}

func validateProbes(all []v1alpha1.PodContainerProbe, path *field.Path) (errs field.ErrorList) {
	if len(all) == 0 {
		return field.ErrorList{field.Required(path, "there must be at least one")}
	}
	names, types := map[string]bool{}, map[string]bool{}
	for i := range all {
		probe, path := &all[i], path.Index(i)
		errs = append(errs, validateNames(probe, names, path)...)
		errs = append(errs, validateProbe(&probe.Probe, path.Child("probe"))...)
		errs = append(errs, validateResults(probe, types, path)...)
	}
	return errs
}

// validateNames looks at the names of a probe. (PPM-1.3)
func validateNames(probe *v1alpha1.PodContainerProbe, seen map[string]bool, path *field.Path) (errs field.ErrorList) {
	switch name := probe.Name; {
	case name == "":
		errs = append(errs, field.Required(path.Child("name"), "it tells the probe from others of the marker"))
	case v1alpha1.NoProbeCondition(name):
		errs = append(errs, field.Invalid(path.Child("name"), name, "it is the name of a condition that Kubernetes or podwright writes"))
	case seen[name]:
		errs = append(errs, field.Duplicate(path.Child("name"), name))
	}
	seen[probe.Name] = true
	if probe.ContainerName == "" {
		errs = append(errs, field.Required(path.Child("containerName"), "it says which container to probe"))
	}
	return errs
}

// plainNames refuses names with the character that divides names in NodePodProbes, but for those that stand. (PPM-1.3)
func plainNames(m, old *v1alpha1.PodProbeMarker) (errs field.ErrorList) {
	for i := range m.Spec.Probes {
		name := m.Spec.Probes[i].Name
		if strings.Contains(name, "#") && (old == nil || !slices.ContainsFunc(old.Spec.Probes, func(p v1alpha1.PodContainerProbe) bool { return p.Name == name })) {
			errs = append(errs, field.Invalid(field.NewPath("spec", "probes").Index(i).Child("name"), name, "probe name can't contains '#'."))
		}
	}
	return errs
}

// validateProbe looks at a probe: its one handler, and its numbers, of which 0 is a default. (PPM-1.4)
func validateProbe(p *corev1.Probe, path *field.Path) (errs field.ErrorList) {
	errs = validateHandler(p, path)
	for _, n := range []struct {
		name  string
		value int32
	}{
		{"initialDelaySeconds", p.InitialDelaySeconds}, {"timeoutSeconds", p.TimeoutSeconds}, {"periodSeconds", p.PeriodSeconds},
		{"successThreshold", p.SuccessThreshold}, {"failureThreshold", p.FailureThreshold},
	} {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(n.value), path.Child(n.name))...)
	}
	return errs
}

func validateHandler(p *corev1.Probe, path *field.Path) (errs field.ErrorList) {
	handlers := 0
	if p.GRPC != nil {
		return field.ErrorList{field.Forbidden(path.Child("grpc"), "only exec, httpGet and tcpSocket are supported")}
	}
	if p.Exec != nil {
		handlers++
		if len(p.Exec.Command) == 0 {
			errs = append(errs, field.Required(path.Child("exec", "command"), "it says what to run"))
		}
	}
	if get := p.HTTPGet; get != nil {
		handlers++
		errs = append(errs, validateHTTPGet(get, path.Child("httpGet"))...)
	}
	if socket := p.TCPSocket; socket != nil {
		handlers++
		errs = append(errs, validateHost(socket.Host, path.Child("tcpSocket", "host"))...)
		errs = append(errs, validatePort(socket.Port.String(), path.Child("tcpSocket", "port"))...)
	}
	switch handlers {
	case 0:
		errs = append(errs, field.Required(path, "it needs a handler: exec, httpGet or tcpSocket"))
	case 1:
	default:
		errs = append(errs, field.Forbidden(path, "it may have one handler only: exec, httpGet or tcpSocket"))
	}
	return errs
}

func validateHTTPGet(get *corev1.HTTPGetAction, path *field.Path) (errs field.ErrorList) {
	errs = append(validateHost(get.Host, path.Child("host")), validatePort(get.Port.String(), path.Child("port"))...)
	if get.Scheme != "" && get.Scheme != corev1.URISchemeHTTP && get.Scheme != corev1.URISchemeHTTPS {
		errs = append(errs, field.NotSupported(path.Child("scheme"), get.Scheme, []corev1.URIScheme{corev1.URISchemeHTTP, corev1.URISchemeHTTPS}))
	}
	for i, header := range get.HTTPHeaders {
		for _, message := range validation.IsHTTPHeaderName(header.Name) {
			errs = append(errs, field.Invalid(path.Child("httpHeaders").Index(i).Child("name"), header.Name, message))
		}
		if strings.ContainsAny(header.Value, "\r\n\x00") {
			errs = append(errs, field.Invalid(path.Child("httpHeaders").Index(i).Child("value"), header.Value, "must be one line"))
		}
	}
	return errs
}

// validateHost refuses any host: an agent would ask it from its node, even if the user may not reach it. (PPM-1.4)
func validateHost(host string, path *field.Path) field.ErrorList {
	if host == "" {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "host field in probes is not allowed: a probe goes to the pod")}
}
