// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// metadata patches annotations as patchPodMetadata says. (SCP-6)
func (c *compiler) metadata() error {
	c.patch("annotationMap", fmt.Sprintf(`variables.annotations.size() == 0 ? [%s] : []`, add(`"/metadata/annotations"`, "{}")))
	values, overwrite := c.patched()
	for p, patch := range c.set.Spec.PatchPodMetadata {
		if patch.PatchPolicy == v1alpha1.SidecarSetMergePatchJSONPatchPolicy && len(patch.Annotations) > 0 {
			return fmt.Errorf("spec.patchPodMetadata[%d]: a policy cannot merge JSON; use Retain or Overwrite, or have a webhook inject", p)
		}
	}
	var operations []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		set := "[" + c.annotate(key, text(values[key])) + "]"
		if !overwrite[key] {
			set = fmt.Sprintf(`(%s in variables.annotations ? [] : %s)`, text(key), set)
		}
		operations = append(operations, set)
	}
	if len(operations) > 0 {
		c.patch("metadata", strings.Join(operations, " + "))
	}
	return nil
}

// patched are the values of annotations that patchPodMetadata sets, and for each whether it
// is also set if the pod has one.
func (c *compiler) patched() (values map[string]string, overwrite map[string]bool) {
	values, overwrite = map[string]string{}, map[string]bool{}
	for _, patch := range c.set.Spec.PatchPodMetadata {
		for key, value := range patch.Annotations {
			if _, set := values[key]; patch.PatchPolicy == v1alpha1.SidecarSetOverwritePatchPolicy {
				values[key], overwrite[key] = value, true
			} else if !set {
				values[key] = value
			}
		}
	}
	return values, overwrite
}

// annotation is an expression of the value of an annotation after the patches; empty if
// there is none.
func (c *compiler) annotation(key string) string {
	values, overwrite := c.patched()
	if overwrite[key] {
		return text(values[key])
	}
	return fmt.Sprintf(`variables.annotations[?%s].orValue(%s)`, text(key), text(values[key]))
}

// annotate is an operation that sets an annotation to a value, an expression.
func (c *compiler) annotate(key, value string) string {
	return add(text("/metadata/annotations/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key)), value)
}

// volumes adds the volumes that the containers mount by themselves, and pull secrets.
// (SCP-7)
func (c *compiler) volumes(all []sidecar) error {
	mounted := map[string]bool{}
	for _, s := range all {
		for _, m := range s.VolumeMounts {
			mounted[m.Name] = true
		}
		for _, d := range s.VolumeDevices {
			mounted[d.Name] = true
		}
	}
	var volumes, secrets []named
	for _, v := range c.set.Spec.Volumes {
		if mounted[v.Name] {
			volumes = append(volumes, named{v.Name, v})
		}
	}
	for _, s := range c.set.Spec.ImagePullSecrets {
		secrets = append(secrets, named{s.Name, s})
	}
	if err := c.append("volumes", volumes); err != nil {
		return err
	}
	return c.append("imagePullSecrets", secrets)
}

type named struct {
	name  string
	value any
}

// append adds to a list of the pod's spec what it has none of the name of.
func (c *compiler) append(list string, values []named) error {
	seen := map[string]bool{}
	var operations []string
	for _, v := range values {
		if seen[v.name] {
			continue
		}
		seen[v.name] = true
		value, err := literal(v.value)
		if err != nil {
			return fmt.Errorf("spec.%s: %s: %w", list, v.name, err)
		}
		operations = append(operations, fmt.Sprintf(`(variables.%sNames.exists(n, n == %s) ? [] : [%s])`, list, text(v.name), add(text("/spec/"+list+"/-"), value)))
	}
	if len(operations) == 0 {
		return nil
	}
	c.define(list+"Names", fmt.Sprintf(`object.spec.?%s.orValue([]).map(v, v.?name.orValue(""))`, list))
	c.patch(list, fmt.Sprintf(`(variables.%sNames.size() == 0 ? [%s] : []) + `, list, add(text("/spec/"+list), "[]"))+strings.Join(operations, " + "))
	return nil
}

// key begins the record of the SidecarSet in an annotation. Texts that begin so are sorted as
// the names are: the quotation mark is less than any character of a name.
func (c *compiler) key() string { return fmt.Sprintf("%q:", c.set.Name) }

// What annotations hold that podwright and OpenKruise write: compact JSON, without escapes.
const (
	aText       = `"[^"\\]*"`
	aTime       = `(null|"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")`
	aRecord     = aText + `:\{"updateTimestamp":` + aTime + `,"hash":` + aText + `,"sidecarSetName":` + aText + `(,"sidecarList":\[` + aText + `(,` + aText + `)*\])?(,"controllerRevision":` + aText + `)?\}`
	aNamedText  = aText + `:` + aText
	eachRecord  = aText + `:\{[^{}]*\}`
	unreadable  = "annotation %s of the pod is not what podwright and OpenKruise write there; correct or remove it"
	listPattern = `^\{(%s(,%[1]s)*)?\}$`
)

// entries defines the entries of an annotation that holds a JSON object, as texts. Of one
// that holds anything else the evaluation fails, before all else, with words that say so.
// (SCP-6)
func (c *compiler) entries(name, annotation, pattern, each string) {
	value := c.define(name+"Text", c.annotation(annotation))
	c.checks = append(c.checks, c.define(name+"Readable", fmt.Sprintf(`%[1]s == "" || %[1]s.matches(%[2]s) ? [] : {"": []}[%[3]s]`,
		value, text(fmt.Sprintf(listPattern, pattern)), text(fmt.Sprintf(unreadable, annotation)))))
	c.define(name, fmt.Sprintf(`%s.findAll(%s)`, value, text(each)))
}

// records defines the records of what was injected.
func (c *compiler) records() {
	c.entries("records", v1alpha1.SidecarSetHashAnnotation, aRecord, eachRecord)
	c.entries("recordsWithoutImage", v1alpha1.SidecarSetHashWithoutImageAnnotation, aRecord, eachRecord)
}

// remember writes down what was injected. (SCP-6)
func (c *compiler) remember(all []sidecar) error {
	list := c.annotation(v1alpha1.SidecarSetInjectedListAnnotation)
	c.patch("injectedList", "["+c.annotate(v1alpha1.SidecarSetInjectedListAnnotation,
		fmt.Sprintf(`(%s.split(",").filter(n, n != "") + [%s]).distinct().sort().join(",")`, list, text(c.set.Name)))+"]")
	regular := slices.DeleteFunc(slices.Clone(all), func(s sidecar) bool { return s.init })
	inits := c.Features.RecordsInitContainers(c.set)
	if len(regular) == 0 && !inits {
		return nil
	}
	hashes, err := c.Features.HashesOf(c.set)
	if err != nil {
		return err
	}
	var none []string // tells that nothing was injected that leaves records
	if len(regular) > 0 {
		none = append(none, fmt.Sprintf(`variables.leftOut.size() == %d`, len(namesOf(regular))))
	} else {
		c.records()
	}
	if inits {
		none = append(none, fmt.Sprintf(`variables.leftOutInit.size() == %d`, len(all)-len(regular)))
	}
	record := c.Features.NewRecord(c.set, "", c.Created)
	var operations []string
	for _, of := range []struct{ variable, annotation, hash, revision string }{
		{"records", v1alpha1.SidecarSetHashAnnotation, hashes.Containers, c.Revision},
		{"recordsWithoutImage", v1alpha1.SidecarSetHashWithoutImageAnnotation, hashes.WithoutImage, ""},
	} {
		record.SidecarSetHash, record.SidecarSetControllerRevision = of.hash, of.revision
		data, err := json.Marshal(record)
		if err != nil {
			return fmt.Errorf("encode annotation %s: %w", of.annotation, err)
		}
		operations = append(operations, c.annotate(of.annotation, c.recorded(of.variable, string(data))))
	}
	c.patch("hashes", fmt.Sprintf(`%s ? [] : [%s]`, strings.Join(none, " && "), strings.Join(operations, ", ")))
	if len(regular) == 0 {
		return nil
	}
	c.nameDefault(len(namesOf(regular)))
	c.rememberHot(regular)
	return nil
}

// nameDefault names the first of the pod's own containers for kubectl, if another stands in front of it now. Names is how
// many regular containers the SidecarSet has. (SCP-6)
func (c *compiler) nameDefault(names int) {
	values, _ := c.patched()
	if _, patched := values[injection.DefaultContainerAnnotation]; patched {
		return
	}
	c.patch("defaultContainer", fmt.Sprintf(`%s in variables.annotations || variables.leftOut.size() == %d || variables.own.size() == 0 || `+
		`variables.addedBefore.size() == 0 && variables.own[0] == 0 ? [] : [%s]`, text(injection.DefaultContainerAnnotation), names,
		c.annotate(injection.DefaultContainerAnnotation, `variables.containers[variables.own[0]].name`)))
}

// recorded is an expression of an annotation with a record. One that says the same stays as
// it is, with its time.
func (c *compiler) recorded(variable, record string) string {
	same := record[strings.Index(record, `,"hash":`):]
	return fmt.Sprintf(`"{" + (variables.%s.filter(e, !e.startsWith(%s)) + [variables.%[1]s.filter(e, e.startsWith(%[2]s) && e.endsWith(%[3]s))].map(l, l.size() > 0 ? l : [%[4]s])[0]).sort().join(",") + "}"`,
		variable, text(c.key()), text(same), text(c.key()+record))
}

// rememberHot writes down which hot containers work, unless that is known. (SCP-6)
func (c *compiler) rememberHot(regular []sidecar) {
	const annotation = v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation
	var names []string
	for _, s := range regular {
		if s.hot() {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return
	}
	c.entries("working", annotation, aNamedText, aNamedText)
	// Of those that are injected, the ones that no entry names.
	c.define("unknown", texts(names)+`.filter(x, !((x + "-1") in variables.leftOut) && !variables.working.exists(e, e.startsWith("\"" + x + "\":\"") && !e.endsWith("\"\"")))`)
	prefix := func(p string) string { return text("/metadata/annotations/" + strings.ReplaceAll(p, "/", "~1")) }
	var versions []string
	for _, v := range []struct{ prefix, suffix, value string }{
		{v1alpha1.SidecarSetVersionAnnotationPrefix, "-1", "1"}, {v1alpha1.SidecarSetVersionAltAnnotationPrefix, "-1", "0"},
		{v1alpha1.SidecarSetVersionAnnotationPrefix, "-2", "0"}, {v1alpha1.SidecarSetVersionAltAnnotationPrefix, "-2", "1"},
	} {
		versions = append(versions, add(fmt.Sprintf(`%s + x + %q`, prefix(v.prefix), v.suffix), text(v.value)))
	}
	c.patch("hot", fmt.Sprintf(`(%s.all(x, (x + "-1") in variables.leftOut) ? [] : [%s]) + variables.unknown.map(x, [%s]).flatten()`, texts(names),
		c.annotate(annotation, `"{" + (variables.working.filter(e, !variables.unknown.exists(x, e.startsWith("\"" + x + "\":"))) + `+
			`variables.unknown.map(x, "\"" + x + "\":\"" + x + "-1\"")).sort().join(",") + "}"`), strings.Join(versions, ", ")))
}
