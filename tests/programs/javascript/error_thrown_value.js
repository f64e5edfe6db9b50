throw { code: 'E_OWN', toString() { return 'own'; } };
