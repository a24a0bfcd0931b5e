// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/yaml"
)

// formats are those of what is no object of an API.
var formats = []string{"json", "yaml"}

// addOutputFlag gives a command the flag --output; empty stands for text.
func addOutputFlag(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVarP(format, "output", "o", "", "Output format. One of: ("+strings.Join(formats, ", ")+"). Text if not specified.")
	completes(cmd, "output", func(*cobra.Command, []string, string) []string { return formats })
}

// encode prints a value as data.
func (c *commands) encode(format string, value any) error {
	encoded, err := json.MarshalIndent(value, "", "    ")
	switch format {
	case "json":
		encoded = append(encoded, '\n')
	case "yaml":
		if err == nil {
			encoded, err = yaml.JSONToYAML(encoded)
		}
	default:
		return genericclioptions.NoCompatiblePrinterError{OutputFormat: &format, AllowedFormats: formats}
	}
	if err != nil {
		return err
	}
	_, err = c.Out.Write(encoded)
	return err
}

// list is a list that is empty rather than null.
func list[T any](all []T) []T { return append([]T{}, all...) }
