// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/manager"
)

const v1beta1 = "v1beta1"

// stored says in which versions a cluster has objects of a definition.
type stored struct {
	now  string   // in which it stores what is written; empty if there is no definition
	ever []string // in which some may be stored
}

// storedIn reads it from a definition that stands in a cluster; nil for one that does not.
func storedIn(standing *unstructured.Unstructured) (s stored) {
	if standing == nil {
		return s
	}
	for _, item := range versions(standing) {
		if version, _ := item.(map[string]any); version["storage"] == true {
			s.now, _ = version["name"].(string)
		}
	}
	if s.ever, _, _ = unstructured.NestedStringSlice(standing.Object, "status", "storedVersions"); s.now != "" && !slices.Contains(s.ever, s.now) {
		s.ever = append(s.ever, s.now)
	}
	return s
}

// v1beta1 tells whether objects may be stored as v1beta1.
func (s stored) v1beta1() bool { return slices.Contains(s.ever, v1beta1) }

// Conversion says what a program does about versions of kinds that it installs the definitions of.
type Conversion struct {
	// ServeV1beta1 adds v1beta1 to the definitions that can have it.
	ServeV1beta1 bool
	// Target leads to the conversion webhook of the program. Nil: it does not, or another program registers the webhook.
	Target *manager.Target
	// Read tells whether the program has just read a definition, which stores nothing as v1beta1. Default nil: it has read none.
	Read func(name string) bool
}

// reads tells whether a definition has to be read. The others come as they are, and the API server itself refuses to drop a
// version in which objects are stored.
func (c *Conversion) reads(name string) bool {
	if !slices.Contains(namesOnDemand(), name) {
		return false
	}
	return c.ServeV1beta1 || c.Read == nil || !c.Read(name)
}

// KeepVersions gives definitions the versions that the cluster stores, before they are applied, and v1beta1 if it is to be served.
// No version that objects are stored in is ever dropped, and the one in which they are stored stays. (PF-5.3) Definitions that cannot
// have v1beta1 are not read: the API server says what is wrong when they are applied.
//
// An error says which definition the cluster would refuse, or leave without conversion, and what to do.
func KeepVersions(ctx context.Context, client dynamic.Interface, definitions []*unstructured.Unstructured, c Conversion) error {
	for _, definition := range definitions {
		if !c.reads(definition.GetName()) {
			continue
		}
		standing, err := client.Resource(crds.Resource).Get(ctx, definition.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			standing, err = nil, nil
		}
		if err == nil {
			err = c.keep(definition, standing)
		}
		if err != nil {
			return fmt.Errorf("keeping the versions of the CRD %s: %w", definition.GetName(), err)
		}
	}
	return nil
}

// keep gives a definition what the standing one, nil if there is none, stores.
func (c *Conversion) keep(definition, standing *unstructured.Unstructured) error {
	s := storedIn(standing)
	for i := range onDemand {
		if slices.Contains(onDemand[i].names, definition.GetName()) {
			if err := c.add(&onDemand[i], definition, standing, s); err != nil {
				return err
			}
		}
	}
	for _, version := range s.ever {
		if !slices.Contains(names(definition), version) {
			return fmt.Errorf("status.storedVersions: objects may be stored as %s, want only %s, which this release has: run a release that has it, "+
				"or store them in another version, migrate them (StorageVersionMigration), and take it off the list", version, strings.Join(names(definition), " and "))
		}
	}
	return nil
}

// add adds v1beta1 to a definition if it is to be served, or is stored.
func (c *Conversion) add(area *area, definition, standing *unstructured.Unstructured, s stored) error {
	if !c.ServeV1beta1 && !s.v1beta1() {
		return nil
	}
	webhook, err := c.webhook(area.path, standing)
	if err != nil {
		return err
	}
	switch err := area.serve(definition, webhook); {
	case err == nil:
	case webhook.URL == nil && webhook.Service == nil && s.v1beta1():
		return fmt.Errorf("objects are stored as v1beta1, and no webhook converts them to v1alpha1, which controllers read: "+
			"run with --enable-webhooks and --register-webhooks, or register one in spec.conversion: %w", err)
	case webhook.URL == nil && webhook.Service == nil: // the server adds it when it can convert
		return nil
	default:
		return err
	}
	if s.now == v1beta1 {
		return area.store(definition)
	}
	return nil
}

// webhook returns what converts objects: the program, or else what the standing definition says; zero if nothing does.
func (c *Conversion) webhook(path string, standing *unstructured.Unstructured) (webhook admissionv1.WebhookClientConfig, err error) {
	if c.Target != nil && !c.Target.KeepCABundles {
		return c.Target.ClientConfig(path), nil
	}
	if standing != nil {
		webhook, err = conversionOf(standing)
	}
	if c.Target != nil && err == nil {
		bundle := webhook.CABundle
		webhook = c.Target.ClientConfig(path)
		webhook.CABundle = bundle
	}
	return webhook, err
}

// StoredAsV1beta1 returns those of the definitions that can have v1beta1, changed: both versions are served, v1beta1 is stored, and the target
// converts. It is for users who apply manifests to clusters that store v1beta1. (PF-5.3)
func StoredAsV1beta1(definitions []*unstructured.Unstructured, target manager.Target) (changed []*unstructured.Unstructured, err error) {
	for _, definition := range definitions {
		for _, area := range onDemand {
			if !slices.Contains(area.names, definition.GetName()) {
				continue
			}
			definition = definition.DeepCopy()
			if err = area.serve(definition, target.ClientConfig(area.path)); err == nil {
				err = area.store(definition)
			}
			if err != nil {
				return nil, err
			}
			changed = append(changed, definition)
		}
	}
	return changed, nil
}

// versions are those of a definition.
func versions(definition *unstructured.Unstructured) []any {
	list, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	return list
}

// names are those of the versions of a definition.
func names(definition *unstructured.Unstructured) (all []string) {
	for _, item := range versions(definition) {
		version, _ := item.(map[string]any)
		name, _ := version["name"].(string)
		all = append(all, name)
	}
	return all
}
