// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// builder says what a list of webhooks is built for.
type builder struct {
	Target
	// serves tells whether the server answers on a path. Entries of other paths are dropped.
	serves func(path string) bool
	// conditions are, by path, those that keep objects away from a webhook that leaves them unchanged. So the objects
	// are created while no replica runs. They are given to a list that came with OpenKruise's manifests, too. API
	// servers before 1.28 know no conditions, and send all objects.
	conditions map[string]string
}

// rebuild makes the list of a configuration what it should be. Mutating and validating webhooks have the same fields, but
// for one, so the list is built of the former.
func rebuild[W any](meta *metav1.ObjectMeta, list *[]W, own []W, b builder) error {
	text, err := template(meta, *list, own)
	if err != nil {
		return err
	}
	before, err := asMutating(*list)
	if err != nil {
		return err
	}
	var all, served []admissionregistrationv1.MutatingWebhook
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("annotation %q: want a list of webhooks in JSON: %w; correct it, or delete it to start from the standing list", TemplateAnnotation, err)
	}
	for _, webhook := range all {
		if !b.adopt(&webhook) {
			continue
		}
		path := pathOf(webhook.ClientConfig)
		webhook.ClientConfig = b.clientConfig(webhook.ClientConfig)
		if b.KeepCABundles {
			webhook.ClientConfig.CABundle = caBundle(before, webhook.Name)
		}
		if condition := b.conditions[path]; condition != "" && webhook.MatchConditions == nil {
			webhook.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "would-be-changed", Expression: condition}}
		}
		complete(&webhook)
		served = append(served, webhook)
	}
	if text, err = json.Marshal(served); err != nil {
		return err
	}
	for key, value := range b.Annotations {
		metav1.SetMetaDataAnnotation(meta, key, value)
	}
	*list = nil
	return json.Unmarshal(text, list)
}

// adopt tells whether the server answers what an entry asks. OpenKruise 1.9 asks about both versions of a kind on one path.
// Such an entry is led to the path of v1alpha1, and asks in that version. The API server converts requests in the other one
// to it.
func (b builder) adopt(w *admissionregistrationv1.MutatingWebhook) bool {
	path := pathOf(w.ClientConfig)
	if b.serves(path) {
		return true
	}
	path = strings.Replace(path, "-apps-kruise-io-", versionedPath, 1)
	if !b.serves(path) {
		return false
	}
	service := &admissionregistrationv1.ServiceReference{Path: &path}
	if w.ClientConfig.Service != nil {
		service.Port = w.ClientConfig.Service.Port
	}
	w.ClientConfig = admissionregistrationv1.WebhookClientConfig{Service: service}
	for i := range w.Rules {
		if slices.Contains(w.Rules[i].APIVersions, "v1alpha1") {
			w.Rules[i].APIVersions = []string{"v1alpha1"}
		}
	}
	return true
}

// versionedPath is a part of paths that name v1alpha1.
const versionedPath = "-apps-kruise-io-v1alpha1-"

// withoutVersion returns a path as OpenKruise 1.9 has it for a kind with two versions.
func withoutVersion(path string) string {
	return strings.Replace(path, versionedPath, "-apps-kruise-io-", 1)
}

// offer adds to a template, made by another program or a user, the own webhooks that it lacks. Each is offered once: one that a user takes away stays
// away. So what has come since the template was made is asked about, too.
func offer[W any](meta *metav1.ObjectMeta, text []byte, own []W) ([]byte, error) {
	var entries []admissionregistrationv1.MutatingWebhook
	var raw []json.RawMessage
	if errors.Join(json.Unmarshal(text, &raw), json.Unmarshal(text, &entries)) != nil {
		return text, nil // rebuild says what is wrong
	}
	mine, err := asMutating(own)
	if err != nil {
		return nil, err
	}
	has := map[string]bool{}
	for i := range entries {
		has[entries[i].Name], has[withoutVersion(pathOf(entries[i].ClientConfig))] = true, true
	}
	offered := strings.Fields(meta.Annotations[offeredAnnotation])
	before := len(offered)
	for i := range mine {
		if slices.Contains(offered, mine[i].Name) {
			continue
		}
		offered = append(offered, mine[i].Name)
		if has[mine[i].Name] || has[withoutVersion(pathOf(mine[i].ClientConfig))] {
			continue
		}
		one, err := json.Marshal(own[i])
		if err != nil {
			return nil, err
		}
		raw = append(raw, one)
	}
	if len(offered) == before {
		return text, nil
	}
	slices.Sort(offered)
	metav1.SetMetaDataAnnotation(meta, offeredAnnotation, strings.Join(offered, " "))
	if len(raw) > len(entries) {
		if text, err = json.Marshal(raw); err != nil {
			return nil, err
		}
		metav1.SetMetaDataAnnotation(meta, TemplateAnnotation, string(text))
	}
	return text, nil
}

// asMutating returns a list of either kind as one of mutating webhooks, which have all fields.
func asMutating[W any](list []W) (all []admissionregistrationv1.MutatingWebhook, err error) {
	text, err := json.Marshal(list)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	return all, err
}

// caBundle returns that of a webhook of a list. One that is not there has that of the first that has any: all lead to one server.
func caBundle(list []admissionregistrationv1.MutatingWebhook, name string) (ofOthers []byte) {
	for _, webhook := range list {
		if webhook.Name == name {
			return webhook.ClientConfig.CABundle
		}
		if ofOthers == nil {
			ofOthers = webhook.ClientConfig.CABundle
		}
	}
	return ofOthers
}

// template returns the list to build from as JSON: the template. Without one it is the own list for a configuration of
// our own, and otherwise the standing list, which becomes the template. A template gets what it lacks, once.
func template[W any](meta *metav1.ObjectMeta, standing, own []W) ([]byte, error) {
	if text, found := meta.Annotations[TemplateAnnotation]; found {
		return offer(meta, []byte(text), own)
	}
	if meta.Labels[managedByLabel] == managedBy {
		return json.Marshal(own)
	}
	text, err := json.Marshal(standing)
	if err != nil {
		return nil, err
	}
	metav1.SetMetaDataAnnotation(meta, TemplateAnnotation, string(text))
	return offer(meta, text, own)
}

// complete fills in what the API server would, so that a list which stands compares equal to what it was made of.
func complete(w *admissionregistrationv1.MutatingWebhook) {
	setDefault(&w.FailurePolicy, admissionregistrationv1.Fail)
	setDefault(&w.MatchPolicy, admissionregistrationv1.Equivalent)
	setDefault(&w.NamespaceSelector, metav1.LabelSelector{})
	setDefault(&w.ObjectSelector, metav1.LabelSelector{})
	setDefault(&w.TimeoutSeconds, 10)
	setDefault(&w.ReinvocationPolicy, admissionregistrationv1.NeverReinvocationPolicy)
	for i := range w.Rules {
		setDefault(&w.Rules[i].Scope, admissionregistrationv1.AllScopes)
	}
}

func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
