// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// The ConfigMap, in the namespace of the manager, whose key holds the annotations that
// SidecarSets may patch.
const (
	whitelistConfigMap = "kruise-configuration"
	WhitelistKey       = "SidecarSet_PatchPodMetadata_WhiteList"
)

// Whitelist says which annotations of pods SidecarSets may patch.
type Whitelist struct {
	// Rules permit annotations to the SidecarSets that they select. One that none selects is judged as without a list.
	Rules []whitelistRule `json:"rules"`
}

// whitelistRule is a rule of a Whitelist.
type whitelistRule struct {
	// Selector selects SidecarSets by their labels. Nil: all.
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// AllowedAnnotationKeyExprs are regular expressions; a key that one of them matches
	// anywhere is allowed.
	AllowedAnnotationKeyExprs []string `json:"allowedAnnotationKeyExprs,omitempty"`
}

// ReadWhitelist reads the white list of a ConfigMap, which may be nil: then, and without
// the key, there is none, and nil is returned. One that cannot be read is an error.
// (SCS-V6)
func ReadWhitelist(config *corev1.ConfigMap) (*Whitelist, error) {
	if config == nil || config.Data[WhitelistKey] == "" {
		return nil, nil
	}
	list := &Whitelist{}
	if err := json.Unmarshal([]byte(config.Data[WhitelistKey]), list); err != nil {
		return nil, fmt.Errorf("ConfigMap %s/%s: data[%s] is no white list: %w", config.Namespace, config.Name, WhitelistKey, err)
	}
	return list, nil
}

// ValidateMetadata says which annotations that a SidecarSet patches no rule of a white
// list allows. If there is no list (nil), or none of its rules is about the
// SidecarSet, all are allowed or none, as byDefault says. (SCS-V6)
func ValidateMetadata(set *v1alpha1.SidecarSet, list *Whitelist, byDefault bool) field.ErrorList {
	path := field.NewPath("spec", "patchPodMetadata")
	if len(set.Spec.PatchPodMetadata) == 0 {
		return nil
	}
	allowed, err := list.of(set)
	switch {
	case err != nil:
		return field.ErrorList{field.InternalError(path, err)}
	case len(allowed) == 0 && byDefault:
		return nil
	case len(allowed) == 0:
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
			"no rule of %s in ConfigMap %s allows this SidecarSet to patch annotations", WhitelistKey, whitelistConfigMap))}
	}
	var errs field.ErrorList
	for i, patch := range set.Spec.PatchPodMetadata {
		for _, key := range sortedKeys(patch.Annotations) {
			if !matchesAny(allowed, key) {
				errs = append(errs, field.Forbidden(path.Index(i).Child("annotations").Key(key), fmt.Sprintf(
					"no rule of %s in ConfigMap %s allows it", WhitelistKey, whitelistConfigMap)))
			}
		}
	}
	return errs
}

// of returns the expressions that apply to a SidecarSet.
func (l *Whitelist) of(set *v1alpha1.SidecarSet) (allowed []*regexp.Regexp, err error) {
	if l == nil {
		return nil, nil
	}
	for i, rule := range l.Rules {
		if rule.Selector != nil {
			selector, err := metav1.LabelSelectorAsSelector(rule.Selector)
			if err != nil {
				return nil, fmt.Errorf("%s: rules[%d].selector: %w", WhitelistKey, i, err)
			}
			if !selector.Matches(labels.Set(set.Labels)) {
				continue
			}
		}
		for _, text := range rule.AllowedAnnotationKeyExprs {
			expression, err := regexp.Compile(text)
			if err != nil {
				return nil, fmt.Errorf("%s: rules[%d].allowedAnnotationKeyExprs: %w", WhitelistKey, i, err)
			}
			allowed = append(allowed, expression)
		}
	}
	return allowed, nil
}

func matchesAny(expressions []*regexp.Regexp, key string) bool {
	for _, e := range expressions {
		if e.MatchString(key) {
			return true
		}
	}
	return false
}
