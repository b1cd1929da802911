package settings

import "fmt"

// CheckEnvironment reports settings that name an environment variable which is not set, or a
// file with a secret that cannot be read. It is apart from [Resolve] because settings are also
// shown and checked where the service does not run.
func (s Settings) CheckEnvironment(env func(string) (string, bool)) error {
	if err := s.Model.CheckKey(env); err != nil {
		return About(fmt.Errorf("model.%w", err), "model.api_key_env")
	}
	if s.Auth.Has(ModeLDAP) && s.LDAP.BindPassword != "" {
		if _, err := s.LDAP.BindPassword.Reveal(env); err != nil {
			return About(fmt.Errorf("ldap.bind_password: %w", err), "ldap.bind_password")
		}
	}
	if err := s.Bus.checkSecrets(env); err != nil {
		return err
	}
	if err := s.Approvals.checkSecrets(env); err != nil {
		return err
	}
	if err := s.Classifier.checkSecrets(env); err != nil {
		return err
	}
	if err := s.Webhooks.checkSecrets(env); err != nil {
		return err
	}
	if err := s.Sandbox.checkSecrets(env); err != nil {
		return err
	}
	if err := s.Memory.checkSecrets(env); err != nil {
		return err
	}
	for _, l := range lists {
		if err := l.checkEnvironment(s, env); err != nil {
			return err
		}
	}
	return nil
}

// checkEnvironment does the same for the objects of a list.
func (o *objects[T]) checkEnvironment(s Settings, env func(string) (string, bool)) error {
	if o.used == nil || !o.used(s) {
		return nil
	}
	for i, t := range o.of(s) {
		for _, f := range o.fields {
			if _, err := f.reveal(&t, env); err != nil {
				return About(fmt.Errorf("%s %s: %s: %w", o.block, *o.name(&t), f.name, err), fmt.Sprintf("%s[%d].%s", o.key, i, f.name))
			}
		}
	}
	return nil
}

// Secrets returns the secrets that the settings refer to, wherever they are: the content of
// variables and files that a setting or a field of an object names. One that is not there is
// left out.
func (s Settings) Secrets(env func(string) (string, bool)) []string {
	all := reveal(options, &s, env)
	for _, l := range lists {
		all = append(all, l.secrets(s, env)...)
	}
	return all
}

func (o *objects[T]) secrets(s Settings, env func(string) (string, bool)) (all []string) {
	for _, t := range o.of(s) {
		all = append(all, reveal(o.fields, &t, env)...)
	}
	return all
}

func reveal[T any](fields []field[T], t *T, env func(string) (string, bool)) (all []string) {
	for _, f := range fields {
		if v, err := f.reveal(t, env); err == nil && v != "" {
			all = append(all, v)
		}
	}
	return all
}

// reveal gets the secret that the value refers to; none where it refers to none.
func (f field[T]) reveal(t *T, env func(string) (string, bool)) (string, error) {
	v := f.show(t)
	if v == "" {
		return "", nil
	}
	switch f.kind {
	case kindReference:
		return Reference(v).Reveal(env)
	case kindVariable:
		return Reference("{env." + v + "}").Reveal(env)
	default:
		return "", nil
	}
}
