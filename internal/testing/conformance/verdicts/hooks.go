// SPDX-License-Identifier: Apache-2.0

package verdicts

// HookLabels are the cases of spec.lifecycle.HOOK.labelsHandler: labels that no pod can have hold no pod back, or all for ever.
func HookLabels(hook string) []Case {
	at := "spec.lifecycle." + hook + ".labelsHandler"
	return []Case{
		{Value: `{}`}, {Value: `{"example.com/ready":""}`},
		{Value: `{"not a key":"x"}`, Want: at + `[not a key]: Invalid value: "not a key": no pod can have this label`, Stays: true},
		{Value: `{"a":"not valid"}`, Want: at + `[a]: Invalid value: "not valid": no pod can have this label`, Stays: true},
	}
}

// HookFinalizers are likewise those of spec.lifecycle.HOOK.finalizersHandler.
func HookFinalizers(hook string) []Case {
	at := "spec.lifecycle." + hook + ".finalizersHandler"
	return []Case{
		{Value: `[]`}, {Value: `["example.com/held","example.com/held"]`},
		{Value: `[""]`, Want: at + "[0]: Invalid value: \"\": no pod can have this finalizer: name part must be non-empty\n" + at + "[0]: Invalid", Stays: true},
		{Value: `["a/b/c"]`, Want: at + `[0]: Invalid value: "a/b/c": no pod can have this finalizer`, Stays: true},
	}
}
